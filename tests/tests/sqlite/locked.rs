//! A database that is there and does not answer.

use super::harness::Sqlite;
use outbox_core::CancellationToken;
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::dispatcher::{Scene, ok};
use sea_orm::{SqliteTransactionMode, TransactionOptions, TransactionTrait};
use std::time::Duration;

#[tokio::test]
async fn a_lock_longer_than_the_lease_is_survived() {
    let scene = Scene::<Sqlite<true>>::new().await;
    for number in 0..20 {
        scene
            .emit(&format!("x{}", number % 4), &number.to_string())
            .await;
    }
    let slow = |_, _| async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(())
    };
    let builder = scene.dispatcher("d1", slow).lease(Duration::from_secs(1));
    let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
    scene.settled(4).await;
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Exclusive),
        ..TransactionOptions::default()
    };
    let other = scene.harness.open_again().await;
    let lock = other.begin_with_options(options).await.unwrap();
    // What was handled just now may not have been written; the lease ends meanwhile.
    scene.log.by("d1").fault();
    tokio::time::sleep(Duration::from_secs(7)).await;
    scene.log.by("d1").fault();
    lock.rollback().await.unwrap();
    scene.pending(0).await;
    assert!(dispatcher.stats().lease_lost > 0);
    dispatcher.shutdown().await;
    scene.history().assert_clean();
}

#[tokio::test]
async fn in_memory_a_handler_may_hold_the_only_connection_longer_than_the_lease() {
    let scene = Scene::<Sqlite<false>>::new().await;
    scene.emit("x", "1").await;
    let db = scene.harness.connection();
    let handle = move |_, _| {
        let db = db.clone();
        async move {
            let txn = db.begin().await?;
            tokio::time::sleep(Duration::from_secs(3)).await;
            txn.commit().await?;
            Ok(())
        }
    };
    let builder = scene.dispatcher("d1", handle).lease(Duration::from_secs(1));
    let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
    let started = || async { dispatcher.stats().in_work == 1 };
    scene.until("started", started).await;
    scene.settled(1).await;
    scene.pending(0).await;
    assert_eq!(dispatcher.stats().lease_lost, 0);
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 1);
}

#[tokio::test]
async fn a_hard_stop_does_not_wait_for_a_connection_that_a_handler_holds() {
    let scene = Scene::<Sqlite<true>>::new().await;
    scene.emit("x", "1").await;
    let narrow = scene.harness.open_again().await;
    let store = SeaOrmStore::from(&narrow);
    let handle = move |_, _| {
        let db = narrow.clone();
        async move {
            let _txn = db.begin().await?;
            std::future::pending::<()>().await;
            Ok(())
        }
    };
    let builder = scene.dispatcher_over(store, "d1", handle);
    let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
    let started = || async { dispatcher.stats().in_work == 1 };
    scene.until("started", started).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // The reader would wait for 30 s.
    let stopped = tokio::time::timeout(Duration::from_secs(15), dispatcher.abort());
    stopped.await.unwrap();

    let next = scene.dispatcher("d2", ok).lease(Duration::from_secs(600));
    let next = next.spawn(CancellationToken::new()).unwrap();
    scene.pending(0).await;
    next.shutdown().await;
    scene.history().assert_clean();
}

#[tokio::test]
async fn a_file_that_was_deleted_ends_nothing() {
    let scene = Scene::<Sqlite<true>>::new().await;
    let builder = scene.dispatcher("d1", ok).lease(Duration::from_secs(1));
    let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
    scene.emit("x", "1").await;
    scene.pending(0).await;
    std::fs::remove_file(scene.harness.path()).unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(dispatcher.is_live());
    let stopped = tokio::time::timeout(Duration::from_secs(60), dispatcher.shutdown());
    stopped.await.unwrap();
}
