//! Commits that fail, and sessions in the middle of a transaction. B030, B031.

use super::{database::run, harness::Postgres};
use outbox_core::CancellationToken;
use outbox_tests::conformance::{
    Harness, Thing,
    dispatcher::{Scene, ok},
};
use sea_orm::{ConnectionTrait, TransactionTrait};
use std::time::Duration;

#[tokio::test]
async fn a_commit_that_fails_leaves_no_event() {
    let harness = Postgres::<false>::fresh().await;
    let database = &harness.0;
    let sql = "CREATE TABLE a (n INTEGER PRIMARY KEY); \
        CREATE TABLE b (n INTEGER REFERENCES a DEFERRABLE INITIALLY DEFERRED)";
    run(&database.db, sql).await;
    let txn = database.db.begin().await.unwrap();
    txn.execute_unprepared("INSERT INTO b VALUES (1)")
        .await
        .unwrap();
    let emitted = database.outbox.emit(&txn, Thing::said("one")).await;
    emitted.unwrap();
    txn.commit().await.unwrap_err();
    assert_eq!(harness.pending().await, []);
}

/// Where sessions default to SERIALIZABLE every verb is a transaction of its own.
#[tokio::test]
async fn a_hard_stop_leaves_no_session_in_a_transaction() {
    let scene = Scene::<Postgres<true>>::new().await;
    for number in 0..60 {
        scene.emit(&format!("x{}", number % 20), "1").await;
    }
    for round in 0..12 {
        let name = format!("d{round}");
        let dispatcher = scene.dispatcher(&name, ok);
        let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
        tokio::time::sleep(Duration::from_millis(round * 7)).await;
        scene.log.by(&name).fault();
        dispatcher.abort().await;
    }
    let database = &scene.harness.0;
    let left = || async { database.sessions("state LIKE 'idle in transaction%'").await == 0 };
    scene.until("no session is in a transaction", left).await;
    let last = scene.dispatcher("last", ok);
    let last = last.spawn(CancellationToken::new()).unwrap();
    scene.emit("y", "1").await;
    scene.pending(0).await;
    last.shutdown().await;
    scene.history().assert_clean();
}
