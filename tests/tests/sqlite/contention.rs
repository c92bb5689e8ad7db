//! Another writer in the way.

use super::database::{Database, execute};
use super::harness::Sqlite;
use outbox_core::CancellationToken;
use outbox_core::store::{FetchRequest, History, Member, Outcomes, Settled, Store, StoreErrorKind};
use outbox_seaorm::{
    Dispatcher, Emit, Outbox, Retention, SeaOrmStore, begin_immediate, entity::event, is_contention,
};
use outbox_tests::conformance::{
    Harness, Thing,
    dispatcher::{Scene, pool},
};
use sea_orm::{
    ConnectionTrait, EntityTrait, PaginatorTrait, SqliteTransactionMode, TransactionOptions,
    TransactionTrait,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

#[tokio::test]
async fn a_held_write_lock_is_contention_and_reading_goes_on() {
    let database = Database::in_file().await;
    let (db, member) = (database.open_again().await, Member::new("here:1", ""));
    let store = SeaOrmStore::from(&db);
    store.join(&member, Duration::from_secs(600)).await.unwrap();
    let seen = store.shards().await.unwrap();
    let owned = store.take(member.id, &seen).await.unwrap().remove(0);
    execute(&db, "PRAGMA busy_timeout = 10", []).await;

    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    let writer = database.db.begin_with_options(options).await.unwrap();
    let nothing = [Outcomes::new(owned, Vec::new())];
    let settled = store.settle(member.id, &nothing, History::Keep).await;
    assert_eq!(settled.unwrap_err().kind(), StoreErrorKind::Contention);
    let renewed = store.renew(member.id, Duration::from_secs(600)).await;
    assert_eq!(renewed.unwrap_err().kind(), StoreErrorKind::Contention);
    let request = FetchRequest::new(member.id, &[], 0);
    store.fetch(&request).await.unwrap();

    writer.rollback().await.unwrap();
    let nothing = [Outcomes::new(owned, Vec::new())];
    let settled = store.settle(member.id, &nothing, History::Keep).await;
    assert_eq!(settled.unwrap(), [Settled::Written { gone: vec![] }]);
}

#[tokio::test]
async fn an_application_can_tell_that_it_should_run_again() {
    let database = Database::in_file().await;
    let db = database.open_again().await;
    execute(&db, "PRAGMA busy_timeout = 10", []).await;
    let writer = begin_immediate(&database.db).await.unwrap();
    let refused = begin_immediate(&db).await.unwrap_err();
    assert!(is_contention(&refused), "{refused}");

    let sql = "INSERT INTO outbox_shard (shard) VALUES (0)";
    let twice = writer.execute_unprepared(sql).await.unwrap_err();
    assert!(!is_contention(&twice), "{twice}");
    writer.rollback().await.unwrap();
    begin_immediate(&db).await.unwrap().commit().await.unwrap();
}

/// Who reads first and writes then is not refused either (B037).
#[tokio::test(flavor = "multi_thread")]
async fn writers_beside_a_dispatcher_and_a_pruner_are_never_refused() {
    const EACH: usize = 50;
    let harness = Sqlite::<true>::fresh().await;
    let dispatcher = Dispatcher::builder(harness.store()).on_event(|_: Thing, _| async { Ok(()) });
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let pruner = tokio::spawn({
        let (db, done) = (harness.open_again().await, Arc::clone(&done));
        let mut nothing_kept = Retention::default();
        nothing_kept.delivered = Some(Duration::ZERO);
        async move {
            while !done.load(Relaxed) {
                let pruned = Outbox::default().prune(&db, &nothing_kept).await;
                pruned.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    let mut writers = Vec::new();
    for writer in 0..8 {
        let db = harness.open_again().await;
        writers.push(tokio::spawn(async move {
            for number in 0..EACH {
                let txn = begin_immediate(&db).await.unwrap();
                event::Entity::find().count(&txn).await.unwrap();
                let event = Thing::of(&writer.to_string(), &number.to_string());
                txn.emit(event).await.unwrap();
                txn.commit().await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    while dispatcher.stats().delivered < 8 * EACH as u64 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    done.store(true, Relaxed);
    pruner.await.unwrap();
    dispatcher.shutdown().await;
}

// B036
#[tokio::test]
async fn plain_handlers_work_in_the_smallest_pools() {
    let scene = Scene::<Sqlite<true>>::new().await;
    let open = |_| scene.harness.open_again();
    pool::pools_of_any_size_are_enough_for_plain_handlers(&scene, open).await;
}
