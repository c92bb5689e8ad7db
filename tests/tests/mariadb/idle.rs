//! Transactions whose process is not heard of any more.

use super::{database::get, harness::MariaDb};
use outbox_core::store::{Claim, History, Row, TransactionalStore, Verdict};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::{
    Proxy,
    conformance::{Actor, Harness, Thing, claims, conflicts},
};
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use std::time::Duration;

#[tokio::test]
async fn a_claim_that_stands_idle_is_ended_by_the_server() {
    let (harness, idle) = (MariaDb::fresh().await, Duration::from_millis(50));
    claims::a_claim_that_stands_idle_is_ended_by_the_server(&harness, idle).await;
}

#[tokio::test]
async fn a_settle_whose_client_is_silent_is_ended_by_the_server() {
    let harness = MariaDb::fresh().await;
    let proxy = Proxy::start(harness.0.port(), b"").await;
    let through = SeaOrmStore::from(&harness.0.open_through(proxy.port, 1).await);
    let silence = || proxy.silence();
    conflicts::a_settle_whose_client_is_silent_is_ended_by_the_server(&harness, through, silence)
        .await;
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
