//! What a database cancels because of what others do. B035.

use super::{Actor, Harness, Thing};
use outbox_core::store::{
    History, Outcomes, Row, Settled, Settlement, Store, StoreErrorKind, Verdict,
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, TransactionTrait};
use std::time::Duration;

/// It has written nothing, no attempt is burnt, and the next try writes it all.
pub async fn a_settle_that_loses_a_deadlock_may_be_tried_again<H: Harness>(harness: &H) {
    // SQLite has one writer at a time.
    let tables = harness.tables();
    let Some(tables) = tables.filter(|tables| tables.backend() != DbBackend::Sqlite) else {
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
            let sql = tables.outbox.names().render(tables.backend(), &sql);
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
    let other = tables.db.begin().await.unwrap();
    let lock = "SELECT seq FROM \"outbox_event\" FOR UPDATE";
    let lock = tables.outbox.names().render(tables.backend(), lock);
    other.execute_unprepared(&lock).await.unwrap();
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
