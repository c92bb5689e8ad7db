//! What the database refuses, and how it is told.

use super::{
    database::{Database, execute},
    harness::MariaDb,
};
use outbox_core::store::{History, Settlement, Store, StoreErrorKind, Verdict};
use outbox_seaorm::{EmitErrorKind, SeaOrmStore, is_contention};
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::{ConnectionTrait, DbErr, TransactionTrait};
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_held_lock_is_contention_and_reading_goes_on() {
    let harness = MariaDb::fresh().await;
    harness.emit(Thing::said("one")).await;
    let mut owner = Actor::owner(&harness).await;
    let impatient = "SET innodb_lock_wait_timeout = 1";
    owner.store = SeaOrmStore::from(&harness.0.open(2, impatient).await);
    let row = owner.rows().await.remove(0);

    let holder = harness.0.db.begin().await.unwrap();
    execute(&holder, "SELECT * FROM outbox_event FOR UPDATE", []).await;
    let outcome = [Settlement::new(row.position, row.id, Verdict::Done)];
    let history = History::Keep;
    let settled = owner.try_settle(row.shard, &outcome, history).await;
    assert_eq!(settled.unwrap_err().kind(), StoreErrorKind::Contention);
    assert_eq!(owner.rows().await[0], row);
    holder.rollback().await.unwrap();
    owner.settle(&row, Verdict::Done).await;
    assert_eq!(harness.delivered().await.len(), 1);
}

#[tokio::test]
async fn a_read_only_session_is_an_outage() {
    let database = Database::fresh().await;
    let db = database.open(1, "SET SESSION TRANSACTION READ ONLY").await;
    let renewed = SeaOrmStore::from(&db)
        .renew(uuid::Uuid::now_v7(), LEASE)
        .await;
    assert_eq!(renewed.unwrap_err().kind(), StoreErrorKind::Unavailable);
}

#[tokio::test]
async fn a_killed_connection_is_an_outage_and_the_next_one_works() {
    let database = Database::fresh().await;
    let db = database.open(1, "SET SESSION wait_timeout = 600").await;
    let store = SeaOrmStore::from(&db);
    store.shards().await.unwrap();
    let txn = db.begin().await.unwrap();
    let sql = "SELECT CONNECTION_ID() AS v";
    let statement = sea_orm::Statement::from_string(sea_orm::DbBackend::MySql, sql);
    let row = sea_orm::ConnectionTrait::query_one_raw(&txn, statement)
        .await
        .unwrap();
    let id: u64 = row.unwrap().try_get("", "v").unwrap();
    database.execute(&format!("KILL {id}"), []).await;
    drop(txn);
    tokio::time::sleep(Duration::from_millis(50)).await;
    if let Err(error) = store.shards().await {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    }
    assert_eq!(store.shards().await.unwrap().len(), 64);
}

/// Its uncommitted events would be delivered, and rolled back.
#[tokio::test]
async fn a_session_that_reads_uncommitted_rows_is_not_trusted() {
    let harness = MariaDb::fresh().await;
    let mut owner = Actor::owner(&harness).await;
    let dirty = "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED";
    owner.store = SeaOrmStore::from(&harness.0.open(2, dirty).await);
    let txn = harness.0.db.begin().await.unwrap();
    outbox_seaorm::Emit::emit(&txn, Thing::said("one"))
        .await
        .unwrap();
    assert_eq!(owner.rows().await, []);
    txn.commit().await.unwrap();
    assert_eq!(owner.rows().await.len(), 1);
}

#[tokio::test]
async fn an_application_can_tell_that_it_should_run_again() {
    let database = Database::fresh().await;
    let holder = database.db.begin().await.unwrap();
    let sql = "SELECT * FROM outbox_shard WHERE shard = 0 FOR UPDATE";
    execute(&holder, sql, []).await;
    let db = database.open(1, "SET innodb_lock_wait_timeout = 1").await;
    for (sql, again) in [
        (sql, true),
        (
            "INSERT INTO outbox_shard (shard, epoch, revision, suspect_to) VALUES (1, 0, 0, 0)",
            false,
        ),
        ("SELECT nothing", false),
    ] {
        let error = sea_orm::ConnectionTrait::execute_unprepared(&db, sql).await;
        let error = error.unwrap_err();
        assert_eq!(is_contention(&error), again, "{error}");
    }
}

/// Texts are translated on some servers, and have numbers in them; most states say nothing (B035).
#[tokio::test]
async fn an_error_in_another_language_is_told_by_its_number() {
    use StoreErrorKind::{Contention, Unavailable};
    let harness = MariaDb::fresh().await;
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(&harness).await;
    let row = owner.rows().await.remove(0);
    let done = [Settlement::new(row.position, row.id, Verdict::Done)];
    for (number, state, kind) in [
        (1021, "HY000", Unavailable),
        (1040, "08004", Unavailable),
        (1114, "HY000", Unavailable),
        (1205, "HY000", Contention),
        (1213, "40001", Contention),
        (1290, "HY000", Unavailable),
        (1969, "70100", Unavailable),
        (3024, "HY000", Unavailable),
    ] {
        for verb in ["INSERT", "DELETE"] {
            let sql = format!(
                "CREATE OR REPLACE TRIGGER fail_{verb} BEFORE {verb} ON outbox_event FOR EACH ROW \
                 SIGNAL SQLSTATE '{state}' SET MYSQL_ERRNO = {number}, \
                 MESSAGE_TEXT = 'Verklemmung entdeckt: 1146 (42S02)'"
            );
            harness.0.db.execute_unprepared(&sql).await.unwrap();
        }
        let settled = owner.try_settle(row.shard, &done, History::Keep).await;
        assert_eq!(settled.unwrap_err().kind(), kind, "{number}");
        assert_eq!(owner.rows().await, std::slice::from_ref(&row), "{number}");

        let txn = harness.0.db.begin().await.unwrap();
        let emitted = harness.0.outbox.emit(&txn, Thing::said("two")).await;
        let error = emitted.unwrap_err();
        txn.rollback().await.unwrap();
        let again = kind == Contention;
        let told = match again {
            true => EmitErrorKind::Contention,
            false => EmitErrorKind::Database,
        };
        assert_eq!(error.kind(), told, "{number}");
        assert_eq!(is_contention(&DbErr::from(error)), again, "{number}");
    }
    for verb in ["INSERT", "DELETE"] {
        let sql = format!("DROP TRIGGER fail_{verb}");
        harness.0.db.execute_unprepared(&sql).await.unwrap();
    }
    owner.settle(&row, Verdict::Done).await;
    assert_eq!(harness.delivered().await.len(), 1);
}
