//! A delayed event gets its place when it falls due.

use super::{Actor, Harness, Thing};
use std::time::Duration;
use uuid::Uuid;

/// Emits two events, the first of which falls due last, and waits until both are due.
async fn due<H: Harness>(harness: &H) -> [Uuid; 2] {
    let delays = [Duration::from_millis(250), Duration::from_millis(10)];
    let second = harness.emit(Thing::said("second").after(delays[0])).await;
    let first = harness.emit(Thing::said("first").after(delays[1])).await;
    harness.pass(Duration::from_millis(300)).await;
    [first, second]
}

async fn ids<H: Harness>(harness: &H) -> Vec<Uuid> {
    let pending = harness.pending().await;
    pending.iter().map(|row| row.id).collect()
}

/// Before its time, a delayed event is not in the outbox.
pub async fn a_delayed_event_waits<H: Harness>(harness: &H) {
    let hour = Duration::from_secs(3600);
    let id = harness.emit(Thing::said("later").after(hour)).await;
    let owner = Actor::owner(harness).await;
    assert_eq!(owner.rows().await, []);
    assert_eq!(owner.move_due(10).await, Some(0));
    assert_eq!(owner.rows().await, []);
    assert_eq!(harness.delayed().await, [id]);
}

/// The due time decides, not the time of the emit.
pub async fn due_events_move_in_due_order<H: Harness>(harness: &H) {
    let expected = due(harness).await;
    let owner = Actor::owner(harness).await;
    assert_eq!(owner.rows().await, []);
    assert_eq!(owner.move_due(10).await, Some(2));
    assert!(harness.delayed().await.is_empty());
    let rows = owner.rows().await;
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), expected);
    assert_eq!(rows[0].key.as_deref(), Some("a"));
    assert!(rows[0].body.is_some() && rows[0].retry_in.is_none());
}

/// What was emitted in the meantime stands before it.
pub async fn a_due_event_gets_its_place_when_it_moves<H: Harness>(harness: &H) {
    let [first, second] = due(harness).await;
    let now = harness.emit(Thing::said("now")).await;
    Actor::owner(harness).await.move_due(10).await;
    assert_eq!(ids(harness).await, [now, first, second]);
}

/// A flood of due events moves in portions.
pub async fn no_more_than_the_limit_moves<H: Harness>(harness: &H) {
    let [first, second] = due(harness).await;
    let owner = Actor::owner(harness).await;
    assert_eq!(owner.move_due(1).await, Some(1));
    assert_eq!(ids(harness).await, [first]);
    assert_eq!(harness.delayed().await, [second]);
    assert_eq!(owner.move_due(1).await, Some(1));
    assert_eq!(owner.move_due(1).await, Some(0));
    assert_eq!(ids(harness).await, [first, second]);
}

/// Two movers would spoil the order.
pub async fn only_the_owner_moves<H: Harness>(harness: &H) {
    let [first, second] = due(harness).await;
    let former = Actor::owner(harness).await;
    former.release().await;
    assert_eq!(former.move_due(10).await, None);
    let owner = Actor::owner(harness).await;
    assert_eq!(former.move_due(10).await, None);
    assert!(ids(harness).await.is_empty());
    assert_eq!(harness.delayed().await, [first, second]);
    assert_eq!(owner.move_due(10).await, Some(2));
}

/// Not half a second later, as where times are rounded to seconds. B008.
pub async fn what_has_fallen_due_is_seen_by_the_next_look<H: Harness>(harness: &H) {
    const ROUNDS: usize = 30;
    let owner = Actor::owner(harness).await;
    let soon = Duration::from_millis(1);
    for round in 1..=ROUNDS {
        harness.emit(Thing::said("now")).await;
        harness.emit(Thing::said("soon").after(soon)).await;
        harness.pass(soon * 5).await;
        assert_eq!(owner.move_due(10).await, Some(1), "in round {round}");
        assert_eq!(owner.rows().await.len(), 2 * round);
    }
}
