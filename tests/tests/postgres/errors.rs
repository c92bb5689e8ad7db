//! What goes wrong is told by its kind.

use super::database::Database;
use outbox_core::store::{Cursor, FetchRequest, History, Member, Outcomes, Owned, Store};
use outbox_core::store::{Settlement, StoreErrorKind, Verdict};
use outbox_seaorm::{EmitErrorKind, SeaOrmStore, is_contention, schema};
use outbox_tests::conformance::Thing;
use sea_orm::{ConnectionTrait, TransactionTrait};
use std::time::Duration;
use uuid::Uuid;

#[tokio::test]
async fn a_missing_table_is_told_by_its_kind() {
    let database = Database::empty().await;
    let store = database.store();
    let error = store.check().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
    let cursors = [Cursor::new(0, 1, 1)];
    let request = FetchRequest::new(Member::new("", "").id, &cursors, 0);
    let error = store.fetch(&request).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
}

/// One connection, after it was told this.
async fn told(database: &Database, sql: &str) -> SeaOrmStore {
    let db = database.open_again(1).await;
    db.execute_unprepared(sql).await.unwrap();
    SeaOrmStore::new(&db, &database.outbox)
}

#[tokio::test]
async fn a_read_only_database_is_away() {
    let database = Database::plain().await;
    let store = told(&database, "SET default_transaction_read_only = on").await;
    let member = Member::new("here:1", "");
    let error = store.join(&member, Duration::ZERO).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    // Whatever only reads goes on.
    store.members().await.unwrap();
    store.shards().await.unwrap();
    store.blocked(&[1]).await.unwrap();
    let cursors = [Cursor::new(0, 1, 1)];
    let request = FetchRequest::new(member.id, &cursors, 0);
    store.fetch(&request).await.unwrap();
}

#[tokio::test]
async fn a_lock_that_is_not_had_in_time_is_contention() {
    let database = Database::plain().await;
    let store = told(&database, "SET lock_timeout = 10").await;
    let holder = database.db.begin().await.unwrap();
    let sql = "LOCK TABLE outbox_event IN ACCESS EXCLUSIVE MODE";
    super::database::run(&holder, sql).await;
    let done = Settlement::new(1, Uuid::nil(), Verdict::Done);
    let outcomes = [Outcomes::new(Owned::new(1, 1, 0), vec![done])];
    let settled = store.settle(Uuid::nil(), &outcomes, History::Keep).await;
    assert_eq!(settled.unwrap_err().kind(), StoreErrorKind::Contention);
}

#[tokio::test]
async fn a_connection_that_was_ended_is_replaced() {
    let database = Database::plain().await;
    let db = database.open_again(1).await;
    let store = SeaOrmStore::new(&db, &database.outbox);
    store.members().await.unwrap();
    let pid = "SELECT pg_backend_pid() AS n";
    let statement = sea_orm::Statement::from_string(sea_orm::DbBackend::Postgres, pid);
    let row = db.query_one_raw(statement).await.unwrap().unwrap();
    let pid: i32 = row.try_get("", "n").unwrap();
    let end = format!("SELECT pg_terminate_backend({pid}, 10000)");
    super::database::run(&database.db, &end).await;
    // It may be noticed before the statement is sent, or by it.
    if let Err(error) = store.members().await {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    }
    store.members().await.unwrap();
}

#[tokio::test]
async fn a_column_of_another_type_is_told() {
    let database = Database::plain().await;
    for sql in [
        "ALTER TABLE outbox_event ALTER COLUMN attempts TYPE BIGINT",
        "ALTER TABLE outbox_dispatcher RENAME COLUMN handles TO topics",
        "DROP INDEX outbox_event_shard_idx",
        "CREATE INDEX outbox_event_shard_idx ON outbox_event (shard)",
    ] {
        if sql.starts_with("ALTER TABLE outbox_event") {
            let view = "DROP VIEW outbox_status";
            super::database::run(&database.db, view).await;
        }
        super::database::run(&database.db, sql).await;
    }
    let error = schema::check(&database.db).await.unwrap_err();
    insta::assert_snapshot!(error);
}

#[tokio::test]
async fn an_application_can_tell_that_it_should_run_again() {
    let database = Database::plain().await;
    let holder = database.db.begin().await.unwrap();
    let sql = "SELECT * FROM outbox_shard WHERE shard = 0 FOR UPDATE";
    super::database::run(&holder, sql).await;
    for (sql, again) in [
        (format!("{sql} NOWAIT"), true),
        (
            "INSERT INTO outbox_shard (shard) VALUES (0)".to_owned(),
            false,
        ),
        ("SELECT nothing".to_owned(), false),
    ] {
        let db = database.open_again(1).await;
        let error = db.execute_unprepared(&sql).await.unwrap_err();
        assert_eq!(is_contention(&error), again, "{error}");
    }
}

#[tokio::test]
async fn an_emit_that_cannot_be_written_is_told() {
    let database = Database::hostile().await;
    let event = || Thing::said("one");
    for (sql, fails) in [("SELECT 1 / 0", true), ("SET TRANSACTION READ ONLY", false)] {
        let txn = database.db.begin().await.unwrap();
        assert_eq!(txn.execute_unprepared(sql).await.is_err(), fails);
        let error = database.outbox.emit(&txn, event()).await.unwrap_err();
        assert_eq!(error.kind(), EmitErrorKind::Database, "{sql}");
        let events = [event(), event().dedupe_key("k")];
        let error = database.outbox.emit_all(&txn, events).await.unwrap_err();
        assert_eq!(error.kind(), EmitErrorKind::Database, "{sql}");
        txn.rollback().await.unwrap();
    }
    database.emit(event()).await;
    let sql = "SELECT count(*) AS n FROM \"outbox_event\"";
    assert_eq!(database.number(sql).await, 1);
}

/// Texts are translated on some servers (B035).
#[tokio::test]
async fn an_error_in_another_language_is_told_by_its_state() {
    use StoreErrorKind::{Contention, Refused, Schema, Unavailable};
    let database = Database::plain().await;
    let fail = |state: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             RAISE EXCEPTION 'Verklemmung entdeckt: 23505' USING ERRCODE = '{state}'; END $$"
        )
    };
    super::database::run(&database.db, &fail("40001")).await;
    let trigger = "CREATE TRIGGER fail BEFORE INSERT ON outbox_dispatcher \
        FOR EACH ROW EXECUTE FUNCTION fail()";
    super::database::run(&database.db, trigger).await;
    for (state, kind) in [
        ("40001", Contention),
        ("40P01", Contention),
        ("55P03", Contention),
        ("42P01", Schema),
        ("22003", Refused),
        ("23505", Refused),
        ("25006", Unavailable),
        ("53300", Unavailable),
        ("57014", Unavailable),
    ] {
        super::database::run(&database.db, &fail(state)).await;
        let member = Member::new("here:1", "");
        let joined = database.store().join(&member, Duration::ZERO).await;
        assert_eq!(joined.unwrap_err().kind(), kind, "{state}");
        let sql = "INSERT INTO outbox_dispatcher DEFAULT VALUES";
        let error = database.db.execute_unprepared(sql).await.unwrap_err();
        assert_eq!(is_contention(&error), kind == Contention, "{error}");
    }
}
