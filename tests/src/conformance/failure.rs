//! A failed event keeps its place, or becomes a dead letter.

use super::{Actor, DeadRow, Harness, PendingRow, Thing, operators::requeue};
use outbox_core::store::{DeadReason, Row, Settled, Settlement, Store, Verdict};
use std::time::Duration;
use uuid::Uuid;

const WRITTEN: Settled = Settled::Written { gone: Vec::new() };
const HOUR: Duration = Duration::from_secs(3600);

pub(super) fn retry(after: Duration) -> Verdict {
    retry_of(1, after)
}

pub(super) fn retry_of(attempts: u32, after: Duration) -> Verdict {
    Verdict::Retry {
        attempts,
        after,
        error: "it's \"down\"".to_owned(),
    }
}

pub(super) fn dead(reason: DeadReason, blocks: bool) -> Verdict {
    Verdict::Dead {
        reason,
        error: "never".to_owned(),
        blocks,
    }
}

async fn events<H: Harness>(harness: &H, texts: &[&str]) -> (Actor<H::Store>, Vec<Row>) {
    for text in texts {
        harness.emit(Thing::said(text)).await;
    }
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    (owner, rows)
}

/// The attempt is counted, the error kept, and the event is still read at its place.
pub async fn a_retry_keeps_its_place<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one", "two"]).await;
    assert_eq!(owner.settle(&rows[0], retry(HOUR)).await, WRITTEN);
    let expected = PendingRow {
        position: rows[0].position,
        id: rows[0].id,
        attempts: 1,
        crashes: 0,
        waits: true,
        last_error: Some("it's \"down\"".to_owned()),
    };
    assert_eq!(harness.pending().await[0], expected);
    let again = owner.rows().await;
    assert_eq!((again[0].id, again[0].attempts), (rows[0].id, 1));
    assert_eq!(again[1], rows[1]);
}

/// The wait is the database's: what is left of it comes with the row.
pub async fn a_retry_says_how_long_it_waits<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one"]).await;
    owner.settle(&rows[0], retry(HOUR)).await;
    let wait = owner.rows().await[0].retry_in.unwrap();
    assert!(wait <= HOUR && wait > HOUR / 2, "{wait:?}");
    owner.settle(&rows[0], retry_of(2, Duration::ZERO)).await;
    harness.pass(Duration::from_millis(20)).await;
    let row = owner.rows().await.remove(0);
    assert_eq!((row.retry_in, row.attempts), (Some(Duration::ZERO), 2));
}

/// Whoever did not hear the answer writes again: the attempt counts once.
pub async fn a_retry_that_is_written_twice_counts_once<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one"]).await;
    for _ in 0..2 {
        assert_eq!(owner.settle(&rows[0], retry(HOUR)).await, WRITTEN);
    }
    assert_eq!(harness.pending().await[0].attempts, 1);
}

/// A dead letter has everything the event had, and why.
pub async fn a_dead_letter_leaves_the_outbox<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one", "two"]).await;
    let verdict = dead(DeadReason::Exhausted, false);
    assert_eq!(owner.settle(&rows[0], verdict).await, WRITTEN);
    let expected = DeadRow {
        position: rows[0].position,
        id: rows[0].id,
        attempts: 1,
        reason: "exhausted".to_owned(),
        error: "never".to_owned(),
        blocks: false,
    };
    assert_eq!(harness.dead().await, [expected]);
    assert_eq!(owner.rows().await, rows[1..]);
}

/// A crash is counted elsewhere.
pub async fn a_crash_is_no_attempt<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one"]).await;
    let verdict = dead(DeadReason::Crashed, true);
    assert_eq!(owner.settle(&rows[0], verdict).await, WRITTEN);
    let letter = harness.dead().await.remove(0);
    assert_eq!((letter.attempts, letter.reason.as_str()), (0, "crashed"));
}

/// Whoever owns the shard learns which aggregates wait for an operator.
pub async fn a_blocking_dead_letter_is_listed<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one", "two"]).await;
    let shards: Vec<_> = owner.owned.iter().map(|owned| owned.shard).collect();
    owner
        .settle(&rows[0], dead(DeadReason::Rejected, false))
        .await;
    assert_eq!(owner.store.blocked(&shards).await.unwrap(), []);
    owner
        .settle(&rows[1], dead(DeadReason::Rejected, true))
        .await;
    let blocked = owner.store.blocked(&shards).await.unwrap();
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0].shard, rows[1].shard);
    assert_eq!(blocked[0].position, rows[1].position);
    assert_eq!(blocked[0].aggregate, "thing");
    assert_eq!(blocked[0].key.as_deref(), Some("a"));
    assert_eq!(owner.store.blocked(&[]).await.unwrap(), []);
}

/// It stands before what was written after it, and blocks no more.
pub async fn a_requeued_letter_returns_to_its_place<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one", "two"]).await;
    owner
        .settle(&rows[0], dead(DeadReason::Rejected, true))
        .await;
    requeue(harness, rows[0].position).await;
    assert_eq!(owner.store.blocked(&[rows[0].shard]).await.unwrap(), []);
    assert_eq!(harness.dead().await, []);
    assert_eq!(owner.rows().await, rows);
}

/// Somebody else was faster: the reader forgets the event.
pub async fn what_is_gone_is_reported<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one", "two"]).await;
    owner.settle(&rows[0], Verdict::Done).await;
    let gone = Settled::Written {
        gone: vec![rows[0].position],
    };
    assert_eq!(owner.settle(&rows[0], retry(HOUR)).await, gone);
    let verdict = dead(DeadReason::Exhausted, true);
    assert_eq!(owner.settle(&rows[0], verdict.clone()).await, gone);
    assert_eq!(owner.settle(&rows[1], verdict.clone()).await, WRITTEN);
    let gone = Settled::Written {
        gone: vec![rows[1].position],
    };
    assert_eq!(owner.settle(&rows[1], verdict).await, gone);
    assert_eq!(harness.dead().await.len(), 1);
}

/// A position alone names no event.
pub async fn another_id_at_the_position_is_gone<H: Harness>(harness: &H) {
    let (owner, rows) = events(harness, &["one"]).await;
    let mut other = rows[0].clone();
    other.id = Uuid::now_v7();
    for verdict in [retry(HOUR), dead(DeadReason::Rejected, true)] {
        let gone = Settled::Written {
            gone: vec![other.position],
        };
        assert_eq!(owner.settle(&other, verdict).await, gone);
    }
    assert_eq!(owner.rows().await, rows);
    assert_eq!(harness.dead().await, []);
}

/// Outcomes of each kind go in together, in any order.
pub async fn a_batch_is_written_whole<H: Harness>(harness: &H) {
    let texts = ["one", "two", "three", "four", "five", "six"];
    let (owner, rows) = events(harness, &texts).await;
    let verdicts = [
        retry(HOUR),
        Verdict::Done,
        dead(DeadReason::Rejected, true),
        Verdict::Done,
        retry(Duration::ZERO),
    ];
    let outcomes: Vec<_> = rows
        .iter()
        .zip(verdicts)
        .map(|(row, verdict)| Settlement::new(row.position, row.id, verdict))
        .collect();
    assert_eq!(owner.settle_all(rows[0].shard, &outcomes).await, WRITTEN);
    let left: Vec<_> = owner.rows().await.iter().map(|row| row.id).collect();
    assert_eq!(left, [rows[0].id, rows[4].id, rows[5].id]);
    assert_eq!(harness.dead().await[0].id, rows[2].id);
    let delivered = harness.delivered().await;
    let delivered: Vec<_> = delivered.iter().map(|row| row.id).collect();
    assert_eq!(delivered, [rows[1].id, rows[3].id]);
    assert_eq!(owner.settle_all(rows[0].shard, &[]).await, WRITTEN);
}
