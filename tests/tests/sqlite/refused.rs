//! A database that cannot be written for a while. B055.

use super::harness::Sqlite;
use outbox_core::{CancellationToken, Delivery};
use outbox_seaorm::{Emit, EmitErrorKind, SeaOrmStore, is_contention};
use outbox_tests::conformance::{
    Harness, Thing,
    dispatcher::{Scene, ok},
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbErr, TransactionTrait,
    sqlx::{Executor, SqlitePool},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

/// Long enough for a settle to have been tried, and its successors to be handled.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(500)).await;
}

#[tokio::test]
async fn a_success_waits_until_the_database_is_writable() {
    let scene = Scene::<Sqlite<false>>::new().await;
    for text in ["1", "2", "3"] {
        scene.emit("x", text).await;
    }
    let store = scene.harness.store();
    let first = scene.clone();
    let handle = move |text: String, _: Delivery| {
        let scene = first.clone();
        async move {
            if text == "1" {
                scene.harness.run("PRAGMA query_only = ON").await;
            }
            Ok(())
        }
    };
    let dispatcher = scene.dispatcher_over(store, "d1", handle);
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    scene.settled(3).await;
    a_moment().await;
    scene.pending(3).await;
    scene.harness.run("PRAGMA query_only = OFF").await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 3, "none came twice");
}

/// A pool of one session, in which there are no more pages than now while there is no room. SQLite
/// ends a transaction that found none, and sqlx its session: the next one finds none either.
async fn narrow(pool: &SqlitePool, room: &Arc<AtomicBool>) -> DatabaseConnection {
    let room = Arc::clone(room);
    let options = pool.options().clone().after_connect(move |session, _| {
        let full = (!room.load(Relaxed)).then_some("PRAGMA max_page_count = 1");
        Box::pin(async move { session.execute(full.unwrap_or("SELECT 1")).await.map(drop) })
    });
    let connect = (*pool.connect_options()).clone();
    options.connect_with(connect).await.unwrap().into()
}

#[tokio::test]
async fn a_full_disk_is_told_and_waited_for() {
    let scene = Scene::<Sqlite<true>>::new().await;
    let long = "long".repeat(5_000);
    for key in ["x", "y", "z"] {
        for number in 0..3 {
            scene.emit(key, &format!("{number}{long}")).await;
        }
    }
    scene.harness.run("CREATE TABLE other (bytes BLOB)").await;
    let room = Arc::new(AtomicBool::new(false));
    let again = scene.harness.open_again().await;
    let narrow = narrow(again.get_sqlite_connection_pool(), &room).await;
    let other = "INSERT INTO other (bytes) VALUES (zeroblob(100))";
    let full = loop {
        if let Err(error) = narrow.execute_unprepared(other).await {
            break error;
        }
    };
    assert!(full.to_string().contains("(code: 13)"), "{full}");
    let txn = narrow.begin().await.unwrap();
    let error = txn.emit(Thing::said(&long)).await.unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::Database);
    let error = DbErr::from(error);
    assert!(error.to_string().contains("(code: 13)"), "{error}");
    assert!(!is_contention(&error));
    drop(txn);

    let dispatcher = scene.dispatcher_over(SeaOrmStore::from(&narrow), "d1", ok);
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    scene.settled(9).await;
    a_moment().await;
    assert_eq!(scene.harness.delivered().await.len(), 0);
    scene.pending(9).await;
    room.store(true, Relaxed);
    // The session that there may be.
    let _ = narrow
        .execute_unprepared("PRAGMA max_page_count = 1000000")
        .await;
    scene.pending(0).await;
    assert_eq!(dispatcher.stats().retried, 0);
    dispatcher.shutdown().await;
    let delivered = scene.harness.delivered().await;
    assert!(delivered.iter().all(|row| row.attempts == 0));
    assert_eq!(scene.history().assert_clean().starts, 9, "none came twice");
}
