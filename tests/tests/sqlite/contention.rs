//! Another writer in the way.

use super::database::{Database, execute};
use outbox_core::store::{FetchRequest, History, Member, Outcomes, Settled, Store, StoreErrorKind};
use outbox_seaorm::{SeaOrmStore, begin_immediate, is_contention};
use sea_orm::{ConnectionTrait, SqliteTransactionMode, TransactionOptions, TransactionTrait};
use std::time::Duration;

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
