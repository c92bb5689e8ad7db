//! A former owner writes nothing.

use super::{
    Actor, Harness, Tables, Thing,
    failure::{dead, retry},
};
use outbox_core::store::{DeadReason, History, Outcomes, Row, Settled, Settlement, Store, Verdict};
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

/// The successor may be repeating what stood before it, and must repeat it too: whoever gets the
/// shard next finds it.
pub async fn a_success_is_refused_after_the_shard_was_lost<H: Harness>(harness: &H) {
    let (former, owner, rows) = lost(harness).await;
    assert_eq!(former.settle(&rows[1], Verdict::Done).await, Settled::Lost);
    let done = |row: &Row| Settlement::new(row.position, row.id, Verdict::Done);
    let both: Vec<_> = rows.iter().map(done).collect();
    assert_eq!(former.settle_all(rows[0].shard, &both).await, Settled::Lost);
    let discarded = former.try_settle(rows[0].shard, &both, History::Discard);
    assert_eq!(discarded.await.unwrap(), Settled::Lost);
    assert_eq!(owner.rows().await, rows);
    assert_eq!(harness.delivered().await, []);
    let settled = owner.settle(&rows[0], Verdict::Done).await;
    assert_eq!(settled, Settled::Written { gone: vec![] });
    assert_eq!(owner.rows().await, rows[1..]);
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

/// Whatever else is in it.
pub async fn a_mixed_batch_is_refused_after_the_shard_was_lost<H: Harness>(harness: &H) {
    let (former, _, rows) = lost(harness).await;
    let before = harness.pending().await;
    let outcomes = [
        Settlement::new(rows[0].position, rows[0].id, retry(Duration::ZERO)),
        Settlement::new(rows[1].position, rows[1].id, Verdict::Done),
    ];
    let settled = former.settle_all(rows[0].shard, &outcomes).await;
    assert_eq!(settled, Settled::Lost);
    assert_eq!(harness.pending().await, before);
    assert_eq!(harness.delivered().await, []);
}

/// A shard that was lost spoils no other.
pub async fn what_is_still_owned_is_written_beside_a_lost_shard<H: Harness>(harness: &H) {
    for key in 0..20 {
        harness.emit(Thing::of(&key.to_string(), "said")).await;
    }
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    let lost = rows[0].shard;
    let given_up = [owner.of(lost)];
    let member = owner.member.id;
    owner.store.release(member, &given_up).await.unwrap();
    let outcomes = owner.owned.iter().map(|owned| {
        let of_shard = rows.iter().filter(|row| row.shard == owned.shard);
        let done = |row: &Row| Settlement::new(row.position, row.id, Verdict::Done);
        Outcomes::new(*owned, of_shard.map(done).collect())
    });
    let outcomes: Vec<_> = outcomes.collect();
    let settled = owner.store.settle(member, &outcomes, History::Keep).await;
    for (settled, outcomes) in settled.unwrap().into_iter().zip(&outcomes) {
        let written = Settled::Written { gone: vec![] };
        let is_lost = outcomes.owned.shard == lost;
        assert_eq!(settled, if is_lost { Settled::Lost } else { written });
    }
    let left = harness.pending().await;
    let of_lost = rows.iter().filter(|row| row.shard == lost);
    assert!(left.iter().map(|row| row.id).eq(of_lost.map(|row| row.id)));
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

/// It took its snapshot, and waits for its event, before it lost the shard (interleavings 4 and 23).
pub async fn a_stalled_settle_of_a_former_owner_writes_nothing<H: Harness>(harness: &H)
where
    H::Store: 'static,
{
    let Some(tables) = Tables::of_many_writers(harness) else {
        return;
    };
    let rejected = dead(DeadReason::Rejected, true);
    for verdict in [rejected, retry(Duration::from_secs(60)), Verdict::Done] {
        harness.emit(Thing::said("one")).await;
        let former = Actor::owner(harness).await;
        let row = former.rows().await.remove(0);
        let (pending, delivered) = (harness.pending().await, harness.delivered().await);
        let lock = "SELECT seq FROM \"outbox_event\" FOR UPDATE";
        let holder = tables.begin_with(lock).await;
        let settle = {
            let (former, row) = (former.clone(), row.clone());
            tokio::spawn(async move { former.settle(&row, verdict).await })
        };
        harness.wait_for_waiters().await;
        let mut heir = Actor::join(harness).await;
        heir.evict(&former).await;
        assert_eq!(heir.take().await, former.owned.len());
        assert_eq!(heir.store.blocked(&[row.shard]).await.unwrap(), []);
        holder.rollback().await.unwrap();
        assert_eq!(settle.await.unwrap(), Settled::Lost);
        // What the heir has read of the dead letters stays true.
        assert_eq!(heir.store.blocked(&[row.shard]).await.unwrap(), []);
        assert_eq!(harness.pending().await, pending);
        assert_eq!(harness.delivered().await, delivered);
        heir.settle(&row, Verdict::Done).await;
        heir.store.leave(heir.member.id).await.unwrap();
    }
}
