//! Deliveries that complete their events by themselves.

use super::{
    cases::{Case, Never, row},
    *,
};
use crate::{
    dispatcher::{
        around::Around,
        route::{Answer, CallInTransaction, Target},
    },
    envelope::Envelope,
    headers::Headers,
    store::{Claim, Room},
};
use futures_util::future::BoxFuture;
use std::time::Duration;

/// Room for two.
struct Two;

impl CallInTransaction for Two {
    fn room(&self) -> Room {
        Room::in_pool(4)
    }

    fn call<'a>(
        &'a self,
        _: Envelope,
        _: u32,
        _: Headers,
        _: (Claim, Duration),
        _: &'a Around,
    ) -> BoxFuture<'a, Answer> {
        unreachable!("the case delivers")
    }
}

/// `a` has a plain handler, `t` one that completes its events.
fn case() -> Case {
    let topics = [
        ("a", Target::Handler(Box::new(Never))),
        ("t", Target::Transactional(Box::new(Two))),
    ];
    Case::of(topics, |_| {}, 0)
}

#[tokio::test]
async fn a_transaction_waits_until_what_comes_before_is_written() {
    let mut case = case();
    case.fetched(vec![row(1, "x", "a"), row(2, "x", "a"), row(3, "x", "t")]);
    for position in 1..=2 {
        let event = case.start().unwrap();
        assert_eq!(event.1.position, position);
        case.end(event, Ended::Done);
    }
    assert!(case.start().is_none(), "two outcomes are not written");
    let mut batch = case.schedule.take_outcomes(1, 100);
    let second = batch.pop().unwrap();
    case.schedule.committed(batch, &[], case.now);
    assert!(case.start().is_none(), "one outcome is not written");
    case.schedule.committed(vec![second], &[], case.now);
    assert_eq!(case.start().unwrap().1.position, 3);
}

#[tokio::test]
async fn a_transaction_does_not_wait_for_other_aggregates() {
    let mut case = case();
    case.fetched(vec![row(1, "x", "a"), row(2, "y", "t")]);
    while let Some(event) = case.start() {
        if event.1.position == 2 {
            return;
        }
        case.end(event, Ended::Done);
    }
    unreachable!("it never starts");
}

/// Also where the lane was parked and has come back meanwhile.
#[tokio::test]
async fn a_lane_that_was_parked_still_waits() {
    let mut case = case();
    case.fetched(vec![row(1, "x", "a"), row(2, "x", "t"), row(3, "x", "t")]);
    let first = case.start().unwrap();
    case.end(first, Ended::Done);
    let outcomes = case.schedule.take_outcomes(1, 100);
    case.schedule
        .reset_changed(&[crate::store::Seen::new(0, 1, None)]);
    case.fetched_again(1, vec![row(2, "x", "t"), row(3, "x", "t")]);
    assert!(case.start().is_none(), "the first is not written");
    case.schedule.committed(outcomes, &[], case.now);
    assert_eq!(case.start().unwrap().1.position, 2);
}

#[tokio::test]
async fn what_has_completed_is_not_written_again_and_its_lane_goes_on() {
    let mut case = case();
    case.fetched(vec![row(1, "x", "t"), row(2, "x", "a")]);
    let first = case.start().unwrap();
    case.end(first, Ended::Completed);
    assert_eq!(case.schedule.unwritten(), 0);
    assert_eq!(case.schedule.counters.read().delivered, 1);
    assert_eq!(case.start().unwrap().1.position, 2);
}

#[tokio::test]
async fn a_busy_event_keeps_its_place_and_is_looked_at_again() {
    let mut case = case();
    case.fetched(vec![row(1, "x", "t"), row(2, "x", "a")]);
    let first = case.start().unwrap();
    let until = case.now + Duration::from_millis(500);
    case.end(first, Ended::Busy(until));
    assert!(case.start().is_none());
    assert_eq!(case.schedule.next_due(case.now), Some(until));
    case.now = until;
    let heads = case.schedule.due_heads(case.now);
    case.schedule
        .revive(&heads, vec![row(1, "x", "t")], case.now);
    assert_eq!(case.start().unwrap().1.position, 1);
}

#[tokio::test]
async fn there_are_no_more_transactions_than_there_is_room_for() {
    let mut case = case();
    let mut rows: Vec<_> = (1..=5).map(|n| row(n, &n.to_string(), "t")).collect();
    rows.push(row(6, "x", "a"));
    case.fetched(rows);
    let mut started = Vec::new();
    while let Some(event) = case.start() {
        started.push(event);
    }
    let positions: Vec<_> = started.iter().map(|(_, ticket)| ticket.position).collect();
    assert_eq!(positions.len(), 3);
    assert!(positions.contains(&6), "others go on");
    let (at, _) = started
        .iter()
        .enumerate()
        .find(|(_, (_, ticket))| ticket.position != 6)
        .unwrap();
    let over = started.swap_remove(at);
    case.end(over, Ended::Completed);
    assert!(case.start().is_some());
    assert!(case.start().is_none());
}
