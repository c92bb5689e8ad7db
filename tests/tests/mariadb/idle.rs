//! Transactions whose process is not heard of any more.

use super::{database::get, harness::MariaDb};
use outbox_core::store::{
    Claim, History, Outcomes, Row, Settlement, Store, TransactionalStore, Verdict,
};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::{
    Proxy,
    conformance::{Actor, Harness, Thing, claims},
};
use sea_orm::{ConnectionTrait, DbBackend, Statement, TransactionTrait};
use std::time::Duration;

#[tokio::test]
async fn a_claim_that_stands_idle_is_ended_by_the_server() {
    let (harness, idle) = (MariaDb::fresh().await, Duration::from_millis(50));
    claims::a_claim_that_stands_idle_is_ended_by_the_server(&harness, idle).await;
}

/// It was sent by a process that is cut off when the answer to its first statement comes: the server
/// would keep the locks for 8 hours.
#[tokio::test]
async fn a_settle_whose_client_is_silent_is_ended_by_the_server() {
    let harness = MariaDb::fresh().await;
    harness.emit(Thing::said("one")).await;
    let proxy = Proxy::start(harness.0.port(), b"").await;
    let through = harness.0.open_through(proxy.port, 1).await;
    let former = Actor::owner(&harness).await;
    let row = former.rows().await.remove(0);

    let other = harness.0.db.begin().await.unwrap();
    let lock = "SELECT seq FROM outbox_event FOR UPDATE";
    other.execute_unprepared(lock).await.unwrap();
    let (store, member) = (SeaOrmStore::from(&through), former.member.id);
    let outcome = Settlement::new(row.position, row.id, Verdict::Done);
    let outcomes = [Outcomes::new(former.of(row.shard), vec![outcome])];
    let settling =
        tokio::spawn(async move { store.settle(member, &outcomes, History::Keep).await });
    harness.0.wait_for_waiters().await;
    proxy.silence();
    other.rollback().await.unwrap();

    Actor::join(&harness).await.evict(&former).await;
    let heir = Actor::owner(&harness).await;
    heir.settle(&row, Verdict::Done).await;
    assert!(!settling.is_finished());
    settling.abort();
    assert_eq!(harness.pending().await, []);
    assert_eq!(harness.delivered().await.len(), 1);
}

async fn wait_timeout(session: &impl ConnectionTrait) -> i64 {
    let sql = "SELECT CAST(@@SESSION.wait_timeout AS SIGNED) AS v";
    let row = session.query_one_raw(Statement::from_string(DbBackend::MySql, sql));
    get(&row.await.unwrap().unwrap(), "v")
}

/// A session is as it was after whatever the store has done in it.
#[tokio::test]
async fn what_a_session_has_set_itself_stays() {
    for own in [3, 3_000] {
        let harness = MariaDb::fresh().await;
        let first = format!("SET wait_timeout = {own}").leak();
        let one = harness.0.open(1, first).await;
        let mut owner = Actor::owner(&harness).await;
        owner.store = SeaOrmStore::from(&one);
        for _ in 0..3 {
            harness.emit(Thing::said("one")).await;
        }
        let rows = owner.rows().await;
        owner.settle(&rows[0], Verdict::Done).await;
        assert_eq!(wait_timeout(&one).await, own, "settled");
        owner.release().await;
        assert_eq!(wait_timeout(&one).await, own, "released");
        owner.take().await;
        assert_eq!(wait_timeout(&one).await, own, "taken");
        let store = &owner.store;
        let claim = |row: &Row| {
            let claim = Claim::new(owner.member.id, owner.of(row.shard), row.position, row.id);
            claim.idle_for(Duration::from_secs(70))
        };
        let txn = store.claim(&claim(&rows[1])).await.unwrap().unwrap();
        assert_eq!(wait_timeout(&txn).await, own.min(70));
        store.roll_back(txn).await.unwrap();
        assert_eq!(wait_timeout(&one).await, own, "rolled back");
        let txn = store.claim(&claim(&rows[2])).await.unwrap().unwrap();
        store
            .complete(txn, &claim(&rows[2]), History::Keep)
            .await
            .unwrap();
        assert_eq!(wait_timeout(&one).await, own, "completed");
    }
}
