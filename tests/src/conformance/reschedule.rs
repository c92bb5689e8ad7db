//! Operators cancel and reschedule delayed events.

use super::{Actor, Harness, Thing, operators::operator};
use outbox_core::{
    Due,
    operator::{Answer, EventFilter},
};
use std::time::Duration;
use uuid::Uuid;

const HOUR: Duration = Duration::from_secs(3_600);

/// What is not due yet, as it was written.
pub async fn delayed_events_are_listed<H: Harness>(harness: &H) {
    let first = harness.emit(Thing::of("a", "1").after(2 * HOUR)).await;
    let second = harness.emit(Thing::of("b", "2").after(HOUR)).await;
    harness.emit(Thing::of("c", "now")).await;
    let operator = operator(harness);
    let page = operator.scheduled(&EventFilter::all(), Uuid::nil()).await;
    let page = page.unwrap();
    assert_eq!(page.next, None);
    let ids: Vec<_> = page.items.iter().map(|event| event.id).collect();
    assert_eq!(ids, [first, second]);
    let event = &page.items[0];
    assert_eq!(
        (&*event.aggregate, event.key.as_deref()),
        ("thing", Some("a"))
    );
    assert_eq!(event.topic, "thing.said");
    let wait = event.due_at - event.created_at;
    assert!((wait.num_seconds() - 7_200).abs() < 60, "{wait}");
    let of_b = EventFilter::all().topic("thing.said").key("b");
    let page = operator.scheduled(&of_b, Uuid::nil()).await.unwrap();
    assert_eq!(page.items.len(), 1);
    let behind = operator.scheduled(&EventFilter::all(), first).await;
    assert_eq!(behind.unwrap().items[0].id, second);
}

/// It never was.
pub async fn a_cancelled_event_never_falls_due<H: Harness>(harness: &H) {
    let soon = Duration::from_millis(10);
    let id = harness.emit(Thing::said("one").after(soon)).await;
    let operator = operator(harness);
    assert_eq!(operator.cancel(id, "wrong").await.unwrap(), Answer::Done);
    assert_eq!(operator.cancel(id, "again").await.unwrap(), Answer::TooLate);
    harness.pass(4 * soon).await;
    let owner = Actor::owner(harness).await;
    assert_eq!(owner.move_due(10).await, Some(0));
    assert!(harness.pending().await.is_empty() && harness.delayed().await.is_empty());
    let done = operator.operations(None).await.unwrap().items;
    assert_eq!((&*done[0].act, done[0].event), ("cancel", Some(id)));
    assert_eq!(done.len(), 1);
}

/// Earlier or later, by a delay or at a time.
pub async fn a_rescheduled_event_falls_due_at_its_new_time<H: Harness>(harness: &H) {
    let soon = Duration::from_millis(10);
    let earlier = harness.emit(Thing::said("earlier").after(HOUR)).await;
    let later = harness.emit(Thing::said("later").after(soon)).await;
    let past = harness.emit(Thing::said("past").after(HOUR)).await;
    let operator = operator(harness);
    let moved = operator.reschedule(later, Due::After(HOUR), "wait").await;
    assert_eq!(moved.unwrap(), Answer::Done);
    let moved = operator.reschedule(earlier, Due::Now, "hurry").await;
    assert_eq!(moved.unwrap(), Answer::Done);
    let then = chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap();
    let moved = operator.reschedule(past, Due::At(then), "long ago").await;
    assert_eq!(moved.unwrap(), Answer::Done);
    harness.pass(4 * soon).await;
    let owner = Actor::owner(harness).await;
    assert_eq!(owner.move_due(10).await, Some(2));
    let pending = harness.pending().await;
    let ids: Vec<_> = pending.iter().map(|row| row.id).collect();
    assert_eq!(ids, [past, earlier]);
    assert_eq!(harness.delayed().await, [later]);
}

/// What has its place in the outbox is neither cancelled nor moved.
pub async fn what_has_fallen_due_is_out_of_reach<H: Harness>(harness: &H) {
    let soon = Duration::from_millis(10);
    let id = harness.emit(Thing::said("one").after(soon)).await;
    harness.pass(4 * soon).await;
    Actor::owner(harness).await.move_due(10).await;
    let operator = operator(harness);
    for id in [id, Uuid::now_v7()] {
        let late = operator.cancel(id, "late").await.unwrap();
        assert_eq!(late, Answer::TooLate);
        let late = operator.reschedule(id, Due::After(HOUR), "late").await;
        assert_eq!(late.unwrap(), Answer::TooLate);
    }
    assert_eq!(harness.pending().await.len(), 1);
    assert_eq!(operator.operations(None).await.unwrap().items, []);
}
