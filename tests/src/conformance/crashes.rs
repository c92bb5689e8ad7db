//! Crashes are counted apart from attempts.

use super::{Actor, Harness, Thing, failure::retry};
use outbox_core::store::{Row, Store};
use std::time::Duration;

async fn two_events<H: Harness>(harness: &H) -> (Actor<H::Store>, Vec<Row>) {
    harness.emit(Thing::said("one")).await;
    harness.emit(Thing::said("two")).await;
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    (owner, rows)
}

/// Counts a crash against an event as it was read; whether the shard was the actor's.
async fn raise<H: Harness>(actor: &Actor<H::Store>, row: &Row) -> bool {
    let (member, owned) = (actor.member.id, actor.of(row.shard));
    let marks = [(row.position, row.crashes + 1)];
    let marked = actor.store.mark_crashes(member, &owned, &marks);
    marked.await.unwrap()
}

/// One more crash, however often it is said; no more attempts, and nothing for the neighbours.
pub async fn a_crash_is_counted_for_the_named_events<H: Harness>(harness: &H) {
    let (owner, rows) = two_events(harness).await;
    assert!(raise::<H>(&owner, &rows[0]).await);
    assert!(raise::<H>(&owner, &rows[0]).await);
    let after = owner.rows().await;
    assert_eq!((after[0].crashes, after[0].attempts), (1, 0));
    assert_eq!(after[1], rows[1]);
}

/// A former owner counts nothing.
pub async fn only_the_owner_counts_crashes<H: Harness>(harness: &H) {
    let (former, rows) = two_events(harness).await;
    former.release().await;
    assert!(!raise::<H>(&former, &rows[0]).await);
    let owner = Actor::owner(harness).await;
    assert!(!raise::<H>(&former, &rows[0]).await);
    assert_eq!(owner.rows().await, rows);
}

/// An event whose delivery came to an end did not crash the process.
pub async fn a_verdict_clears_the_crashes<H: Harness>(harness: &H) {
    let (owner, rows) = two_events(harness).await;
    assert!(raise::<H>(&owner, &rows[0]).await);
    owner.settle(&rows[0], retry(Duration::ZERO)).await;
    let pending = harness.pending().await;
    assert_eq!((pending[0].crashes, pending[0].attempts), (0, 1));
}
