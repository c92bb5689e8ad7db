//! A delivered event leaves the outbox.

use super::{Actor, DeliveredRow, Harness, Thing};
use outbox_core::store::{History, Row, Settled, Settlement, Verdict};
use std::time::Duration;
use uuid::Uuid;

const WRITTEN: Settled = Settled::Written { gone: Vec::new() };

async fn one_event<H: Harness>(harness: &H) -> (Actor<H::Store>, Row) {
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(harness).await;
    let row = owner.rows().await.remove(0);
    (owner, row)
}

fn delivered(row: &Row, attempts: i64) -> DeliveredRow {
    DeliveredRow {
        position: row.position,
        id: row.id,
        attempts,
    }
}

/// It is kept in the history, if one is kept.
pub async fn a_delivered_event_goes_to_the_history<H: Harness>(harness: &H) {
    let (owner, row) = one_event(harness).await;
    assert_eq!(owner.settle(&row, Verdict::Done).await, WRITTEN);
    assert_eq!(harness.pending().await, []);
    assert_eq!(harness.delivered().await, [delivered(&row, 0)]);
    assert_eq!(owner.rows().await, []);
}

/// It is gone, if none is kept.
pub async fn without_a_history_nothing_is_kept<H: Harness>(harness: &H) {
    let (owner, row) = one_event(harness).await;
    let done = Settlement::new(row.position, row.id, Verdict::Done);
    let settled = owner.try_settle(row.shard, &[done], History::Discard).await;
    assert_eq!(settled.unwrap(), WRITTEN);
    assert_eq!(harness.pending().await, []);
    assert_eq!(harness.delivered().await, []);
}

/// A settle whose answer was lost is repeated.
pub async fn settling_twice_is_settling_once<H: Harness>(harness: &H) {
    let (owner, row) = one_event(harness).await;
    assert_eq!(owner.settle(&row, Verdict::Done).await, WRITTEN);
    assert_eq!(owner.settle(&row, Verdict::Done).await, WRITTEN);
    assert_eq!(harness.delivered().await, [delivered(&row, 0)]);
}

/// After a restore it may be; its neighbours are none the worse for it (interleaving 15).
pub async fn an_event_that_is_in_the_history_already_leaves_the_outbox<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    harness.emit(Thing::said("two")).await;
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    owner.settle(&rows[0], Verdict::Done).await;
    let tables = harness.tables().unwrap();
    tables.run(RESTORE).await;
    let shard = rows[0].shard;
    assert_eq!(owner.rows().await.len(), 2);
    let done = |row: &Row| Settlement::new(row.position, row.id, Verdict::Done);
    let outcomes: Vec<_> = rows.iter().map(done).collect();
    assert_eq!(owner.settle_all(shard, &outcomes).await, WRITTEN);
    assert_eq!(harness.pending().await, []);
    assert_eq!(harness.delivered().await.len(), 2);
}

const RESTORE: &str = "INSERT INTO \"outbox_event\" (seq, id, aggregatetype, aggregateid, topic, \
    payload, headers, occurred_at, ordered, created_at) SELECT seq, id, aggregatetype, aggregateid, \
    topic, payload, headers, occurred_at, ordered, created_at FROM \"outbox_delivered\"";

/// After a restore, a position may be another event's.
pub async fn another_id_at_the_position_is_not_touched<H: Harness>(harness: &H) {
    let (owner, row) = one_event(harness).await;
    let mut other = row.clone();
    for id in [Uuid::now_v7(), Uuid::nil()] {
        other.id = id;
        assert_eq!(owner.settle(&other, Verdict::Done).await, WRITTEN);
    }
    assert_eq!(owner.rows().await, [row]);
    assert_eq!(harness.delivered().await, []);
}

/// The history tells how often the delivery had failed.
pub async fn the_attempts_are_kept_in_the_history<H: Harness>(harness: &H) {
    let (owner, row) = one_event(harness).await;
    let retry = Verdict::Retry {
        attempts: 1,
        after: Duration::ZERO,
        error: "once".to_owned(),
    };
    owner.settle(&row, retry).await;
    owner.settle(&row, Verdict::Done).await;
    assert_eq!(harness.delivered().await, [delivered(&row, 1)]);
}
