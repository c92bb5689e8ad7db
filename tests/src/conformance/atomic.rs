//! The event is there if and only if the transaction commits.

use super::{Actor, Harness, Thing};

/// What was committed is found by the owner.
pub async fn an_event_of_a_committed_transaction_is_there<H: Harness>(harness: &H) {
    let id = harness.emit(Thing::said("one")).await;
    let rows = Actor::owner(harness).await.rows().await;
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [id]);
}

/// What was rolled back has left nothing.
pub async fn an_event_of_a_rolled_back_transaction_never_was<H: Harness>(harness: &H) {
    harness.emit_and_roll_back(Thing::said("one")).await;
    harness
        .emit_and_roll_back(Thing::said("two").after(Actor::<H::Store>::LEASE))
        .await;
    assert_eq!(harness.pending().await, []);
    assert!(harness.delayed().await.is_empty());
    assert_eq!(Actor::owner(harness).await.rows().await, []);
}
