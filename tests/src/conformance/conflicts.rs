//! Several that settle the same, and what a database cancels because of what others do. B035,
//! interleaving 15.

use super::{Actor, Harness, Tables, Thing, failure::dead};
use outbox_core::store::{
    DeadReason, History, Outcomes, Row, Settled, Settlement, Store, StoreErrorKind, Verdict,
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, TransactionTrait};
use std::time::Duration;

/// It has written nothing, no attempt is burnt, and the next try writes it all.
pub async fn a_settle_that_loses_a_deadlock_may_be_tried_again<H: Harness>(harness: &H) {
    let Some(tables) = Tables::of_many_writers(harness) else {
        return;
    };
    let events = (0..20).map(|number| Thing::of("x", &number.to_string()));
    harness.emit_all(events.collect()).await;
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    let retry = Verdict::Retry {
        attempts: 1,
        after: Duration::ZERO,
        error: "once".to_owned(),
    };
    for (verdict, rows) in [(Verdict::Done, &rows[..2]), (retry, &rows[2..4])] {
        let outcomes: Vec<_> = rows
            .iter()
            .map(|row| Settlement::new(row.position, row.id, verdict.clone()))
            .collect();
        let touch = async |txn: &DatabaseTransaction, condition: String| {
            let sql = format!("UPDATE \"outbox_event\" SET last_error = 'x' WHERE {condition}");
            let sql = tables.render(&sql);
            txn.execute_unprepared(&sql).await.unwrap();
        };
        let [first, second] = [&rows[0], &rows[1]].map(|row: &Row| row.position);
        let other = tables.db.begin().await.unwrap();
        if tables.backend() == DbBackend::Postgres {
            // The settle looks for a deadlock before this one does.
            let sql = "SET LOCAL deadlock_timeout = '20s'";
            other.execute_unprepared(sql).await.unwrap();
        }
        // MariaDB ends the one that has written less.
        touch(&other, format!("seq >= {second}")).await;
        let settling = owner.try_settle(rows[0].shard, &outcomes, History::Keep);
        let crossing = async {
            harness.wait_for_waiters().await;
            touch(&other, format!("seq = {first}")).await;
            other.rollback().await.unwrap();
        };
        let (settled, ()) = tokio::join!(settling, crossing);
        assert_eq!(settled.unwrap_err().kind(), StoreErrorKind::Contention);
        let pending = harness.pending().await;
        let untouched = |row: &&Row| {
            let there = pending.iter().find(|there| there.position == row.position);
            there.is_some_and(|there| there.attempts == 0)
        };
        assert_eq!(rows.iter().filter(untouched).count(), 2);
        let written = Settled::Written { gone: Vec::new() };
        assert_eq!(owner.settle_all(rows[0].shard, &outcomes).await, written);
    }
    assert_eq!(harness.delivered().await.len(), 2);
    let attempts = harness.pending().await.iter().map(|row| row.attempts).sum();
    assert_eq!((harness.pending().await.len(), attempts), (18, 2));
}

/// A success is on its way while somebody else makes a dead letter of the event. An INSERT … SELECT
/// that locks nothing would write both.
pub async fn a_success_waits_for_a_dead_letter_and_finds_nothing<H: Harness>(harness: &H)
where
    H::Store: 'static,
{
    let Some(tables) = Tables::of_many_writers(harness) else {
        return;
    };
    for history in [History::Keep, History::Discard] {
        harness.emit(Thing::said("one")).await;
        let owner = Actor::owner(harness).await;
        let row = owner.rows().await.remove(0);
        let other = tables.begin_with(BURY).await;
        let delete = tables.render("DELETE FROM \"outbox_event\"");
        other.execute_unprepared(&delete).await.unwrap();
        let settling = owner.clone();
        let settle = tokio::spawn(async move {
            let done = [Settlement::new(row.position, row.id, Verdict::Done)];
            settling.try_settle(row.shard, &done, history).await
        });
        harness.wait_for_waiters().await;
        other.commit().await.unwrap();
        let written = Settled::Written { gone: Vec::new() };
        assert_eq!(settle.await.unwrap().unwrap(), written);
        assert_eq!(harness.delivered().await, []);
        assert_eq!(harness.dead().await.len(), 1);
        tables.run("DELETE FROM \"outbox_dead\"").await;
        owner.store.leave(owner.member.id).await.unwrap();
    }
}

const BURY: &str = "INSERT INTO \"outbox_dead\" (seq, id, aggregatetype, aggregateid, topic, payload, \
    headers, occurred_at, ordered, attempts, last_error, created_at, reason, blocks_aggregate) \
    SELECT seq, id, aggregatetype, aggregateid, topic, payload, headers, occurred_at, ordered, \
    attempts, '', created_at, 'rejected', TRUE FROM \"outbox_event\" FOR UPDATE";

/// The same without a script: whoever comes first, the event is in one place.
pub async fn two_that_settle_the_same_events_leave_each_in_one_place<H: Harness>(harness: &H) {
    for round in 1..=20 {
        let events = (0..20).map(|_| Thing::said("x")).collect();
        harness.emit_all(events).await;
        let former = Actor::owner(harness).await;
        let rows = former.rows().await;
        Actor::join(harness).await.evict(&former).await;
        let owner = Actor::owner(harness).await;
        let outcomes = |verdict: Verdict| {
            let of = |row: &Row| Settlement::new(row.position, row.id, verdict.clone());
            rows.iter().map(of).collect::<Vec<_>>()
        };
        let letters = outcomes(dead(DeadReason::Rejected, false));
        let (successes, shard) = (outcomes(Verdict::Done), rows[0].shard);
        tokio::join!(
            former.settle_all(shard, &successes),
            owner.settle_all(shard, &letters),
        );
        let settled = harness.delivered().await.len() + harness.dead().await.len();
        assert_eq!(settled, 20 * round);
        assert_eq!(harness.pending().await, []);
        owner.store.leave(owner.member.id).await.unwrap();
    }
}

/// It was sent by a process that is cut off when the answer to its first statement comes: the server
/// would keep its locks for hours. No law, as there is no wire before every store.
pub async fn a_settle_whose_client_is_silent_is_ended_by_the_server<H: Harness>(
    harness: &H,
    through: H::Store,
    silence: impl Fn(),
) where
    H::Store: 'static,
{
    harness.emit(Thing::said("one")).await;
    let tables = harness.tables().unwrap();
    let former = Actor::owner(harness).await;
    let row = former.rows().await.remove(0);
    let lock = "SELECT seq FROM \"outbox_event\" FOR UPDATE";
    let other = tables.begin_with(lock).await;
    let outcome = Settlement::new(row.position, row.id, Verdict::Done);
    let outcomes = [Outcomes::new(former.of(row.shard), vec![outcome])];
    let member = former.member.id;
    let settling =
        tokio::spawn(async move { through.settle(member, &outcomes, History::Keep).await });
    harness.wait_for_waiters().await;
    silence();
    other.rollback().await.unwrap();

    Actor::join(harness).await.evict(&former).await;
    let mut heir = Actor::owner(harness).await;
    let settled = async {
        // The shard's row may be locked too.
        while heir.owned.iter().all(|owned| owned.shard != row.shard) {
            heir.take().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        heir.settle(&row, Verdict::Done).await
    };
    let settled = tokio::time::timeout(Duration::from_secs(45), settled).await;
    let written = Settled::Written { gone: Vec::new() };
    assert_eq!(settled.unwrap(), written);
    assert!(!settling.is_finished());
    settling.abort();
    assert_eq!(harness.pending().await, []);
    assert_eq!(harness.delivered().await.len(), 1);
}
