//! A former owner can write that it delivered, and nothing else.

use super::{
    Actor, Harness, Thing,
    failure::{dead, retry},
};
use outbox_core::store::{DeadReason, Row, Settled, Settlement, Verdict};
use std::time::Duration;

/// A former owner, its successor, and the events that both have read.
async fn lost<H: Harness>(harness: &H) -> (Actor<H::Store>, Actor<H::Store>, Vec<Row>) {
    harness.emit(Thing::said("one")).await;
    harness.emit(Thing::said("two")).await;
    let former = Actor::owner(harness).await;
    let rows = former.rows().await;
    Actor::join(harness).await.evict(&former).await;
    let owner = Actor::owner(harness).await;
    assert_eq!(owner.rows().await, rows);
    (former, owner, rows)
}

/// The event was handled, whoever owns the shard now.
pub async fn a_success_is_written_after_the_shard_was_lost<H: Harness>(harness: &H) {
    let (former, owner, rows) = lost(harness).await;
    assert_eq!(former.settle(&rows[0], Verdict::Done).await, Settled::Lost);
    assert_eq!(owner.rows().await, rows[1..]);
    assert_eq!(harness.delivered().await.len(), 1);
    // The successor was working on it too, and finds it settled.
    let settled = owner.settle(&rows[0], Verdict::Done).await;
    assert_eq!(settled, Settled::Written { gone: vec![] });
    assert_eq!(harness.delivered().await.len(), 1);
}

/// The successor decides when the event is tried again.
pub async fn a_retry_is_refused_after_the_shard_was_lost<H: Harness>(harness: &H) {
    let (former, _, rows) = lost(harness).await;
    let before = harness.pending().await;
    let verdict = retry(Duration::from_secs(9));
    assert_eq!(former.settle(&rows[0], verdict).await, Settled::Lost);
    assert_eq!(harness.pending().await, before);
}

/// The successor decides whether the event is given up.
pub async fn a_dead_letter_is_refused_after_the_shard_was_lost<H: Harness>(harness: &H) {
    let (former, _, rows) = lost(harness).await;
    let before = harness.pending().await;
    let verdict = dead(DeadReason::Exhausted, true);
    assert_eq!(former.settle(&rows[0], verdict).await, Settled::Lost);
    assert_eq!(harness.pending().await, before);
    assert_eq!(harness.dead().await, []);
}

/// A batch is not refused as a whole.
pub async fn of_a_mixed_batch_only_successes_are_written<H: Harness>(harness: &H) {
    let (former, _, rows) = lost(harness).await;
    let before = harness.pending().await;
    let outcomes = [
        Settlement::new(rows[0].position, rows[0].id, retry(Duration::ZERO)),
        Settlement::new(rows[1].position, rows[1].id, Verdict::Done),
    ];
    let settled = former.settle_all(rows[0].shard, &outcomes).await;
    assert_eq!(settled, Settled::Lost);
    assert_eq!(harness.pending().await, before[..1]);
    assert_eq!(harness.delivered().await[0].id, rows[1].id);
}

/// The fence is owner and epoch: what was begun before the loss is not written after a return.
pub async fn a_later_epoch_of_the_same_member_is_another_owner<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    let former = Actor::owner(harness).await;
    let rows = former.rows().await;
    former.release().await;
    let mut owner = former.clone();
    assert_eq!(owner.take().await, former.owned.len());
    let verdict = retry(Duration::ZERO);
    assert_eq!(
        former.settle(&rows[0], verdict.clone()).await,
        Settled::Lost
    );
    let settled = owner.settle(&rows[0], verdict).await;
    assert_eq!(settled, Settled::Written { gone: vec![] });
    assert_eq!(harness.pending().await[0].attempts, 1);
}
