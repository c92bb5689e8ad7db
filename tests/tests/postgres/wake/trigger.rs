//! The trigger: who is notified, when, by whom, and of what.

use super::ear::Ear;
use crate::database::{Database, run};
use outbox_core::store::{Member, Store};
use outbox_migrations::migrations_for;
use outbox_seaorm::{Outbox, schema};
use outbox_tests::conformance::Thing;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, IsolationLevel, Statement, TransactionTrait,
};
use sea_orm_migration::{MigrationTrait, MigratorTrait};
use std::{sync::OnceLock, time::Duration};
use uuid::Uuid;

const HOUR: Duration = Duration::from_secs(3600);

/// Registers a dispatcher that says that it sleeps.
pub(super) async fn sleep(database: &Database) -> Member {
    let (store, member) = (database.store(), Member::new("here:1", ""));
    store.join(&member, HOUR).await.unwrap();
    store.set_sleeping(member.id, true).await.unwrap();
    member
}

async fn objects(database: &Database) -> i64 {
    let sql = "SELECT (SELECT count(*) FROM pg_trigger WHERE tgname = 'wake_dispatchers' \
        AND tgrelid IN ('\"outbox_event\"'::regclass, '\"outbox_delayed\"'::regclass)) \
        + (SELECT count(*) FROM pg_proc WHERE proname LIKE '%outbox_wake' AND pronamespace = \
        (SELECT relnamespace FROM pg_class WHERE oid = '\"outbox_event\"'::regclass)) AS n";
    database.number(sql).await
}

#[tokio::test]
async fn nobody_is_notified_while_nobody_sleeps() {
    for database in [Database::plain().await, Database::hostile().await] {
        let mut ear = Ear::of(&database).await;
        let store = database.store();
        let awake = Member::new("here:1", "");
        store.join(&awake, HOUR).await.unwrap();
        database.emit(Thing::said("one")).await;
        assert_eq!(ear.take_wakes(&database).await, 0);
        store.set_sleeping(awake.id, true).await.unwrap();
        database.emit(Thing::said("two")).await;
        database.emit(Thing::said("three").after(HOUR)).await;
        assert_eq!(ear.take_wakes(&database).await, 2);
        store.set_sleeping(awake.id, false).await.unwrap();
        database.emit(Thing::said("four")).await;
        assert_eq!(ear.take_wakes(&database).await, 0);
        // Who is gone is not to be woken.
        store.set_sleeping(awake.id, true).await.unwrap();
        store.leave(awake.id).await.unwrap();
        store.set_sleeping(awake.id, true).await.unwrap();
        database.emit(Thing::said("five")).await;
        assert_eq!(ear.take_wakes(&database).await, 0);
    }
}

#[tokio::test]
async fn a_transaction_notifies_once_and_only_when_it_commits() {
    let database = Database::plain().await;
    let mut ear = Ear::of(&database).await;
    sleep(&database).await;
    let txn = database.db.begin().await.unwrap();
    for n in 0..20 {
        let event = Thing::of(&format!("x{n}"), "long enough");
        database.outbox.emit(&txn, event).await.unwrap();
    }
    assert_eq!(ear.take_wakes(&database).await, 0);
    txn.commit().await.unwrap();
    assert_eq!(ear.take_wakes(&database).await, 1);
    let txn = database.db.begin().await.unwrap();
    database.outbox.emit(&txn, Thing::said("no")).await.unwrap();
    txn.rollback().await.unwrap();
    assert_eq!(ear.take_wakes(&database).await, 0);
}

/// A session keeps the plan of its first emit, when there were a few rows; an old snapshot keeps what
/// heartbeats have written since.
#[tokio::test]
async fn an_emit_looks_for_sleepers_by_index() {
    let database = Database::plain().await;
    for _ in 0..3 {
        let awake = Member::new("here:1", "");
        database.store().join(&awake, HOUR).await.unwrap();
    }
    let db = database.open_again(1).await;
    for heartbeats in [1, 1, 1_000] {
        let old = TransactionTrait::begin_with_config(
            &database.db,
            Some(IsolationLevel::RepeatableRead),
            None,
        );
        let old = old.await.unwrap();
        run(&old, "SELECT count(*) FROM outbox_dispatcher").await;
        let sql = format!(
            "DO $$ BEGIN FOR n IN 1..{heartbeats} LOOP \
             UPDATE outbox_dispatcher SET renewed_at = clock_timestamp(); END LOOP; END $$"
        );
        run(&database.db, &sql).await;
        let txn = db.begin().await.unwrap();
        let before = scans(&txn).await;
        let event = Thing::said("one");
        database.outbox.emit(&txn, event).await.unwrap();
        let after = scans(&txn).await;
        txn.commit().await.unwrap();
        old.rollback().await.unwrap();
        assert_eq!((before.0, before.1 + 1), after, "whole, by index");
    }
}

/// How often this session has read the dispatchers whole, and by an index, as far as it has not told.
async fn scans(txn: &DatabaseTransaction) -> (i64, i64) {
    let sql = "SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables \
        WHERE relid = 'outbox_dispatcher'::regclass";
    let statement = Statement::from_string(DbBackend::Postgres, sql);
    let row = txn.query_one_raw(statement).await.unwrap().unwrap();
    let number = |column| row.try_get("", column).unwrap();
    (number("seq_scan"), number("idx_scan"))
}

#[tokio::test]
async fn another_prefix_wakes_nobody() {
    let database = Database::plain().await;
    let other = Outbox::builder().prefix("other_").build().unwrap();
    schema::create_with(&other, &database.db).await.unwrap();
    sleep(&database).await;
    let mut ear = Ear::of(&database).await;
    let txn = database.db.begin().await.unwrap();
    other.emit(&txn, Thing::said("one")).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(ear.take_wakes(&database).await, 0);
    database.emit(Thing::said("two")).await;
    assert_eq!(ear.take_wakes(&database).await, 1);
}

/// It has the position from the sequence, and may see no table, and makes one of its own to be
/// looked into.
#[tokio::test]
async fn who_may_only_emit_notifies_too() {
    let database = Database::plain().await;
    sleep(&database).await;
    let mut ear = Ear::of(&database).await;
    let role = format!("emits{}", Uuid::now_v7().simple());
    let sql = format!(
        "CREATE ROLE {role}; \
         DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO {role}', current_schema()); END $$; \
         GRANT INSERT ON outbox_event TO {role}; GRANT USAGE ON SEQUENCE outbox_event_seq TO {role}"
    );
    run(&database.db, &sql).await;
    let txn = database.db.begin().await.unwrap();
    let sql =
        format!("SET LOCAL ROLE {role}; CREATE TEMP TABLE outbox_dispatcher (sleeps BOOLEAN)");
    txn.execute_unprepared(&sql).await.unwrap();
    let event = Thing::said("one");
    database.outbox.emit(&txn, event).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(ear.take_wakes(&database).await, 1);
    let sql = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    run(&database.db, &sql).await;
}

/// How a session quotes names is its own setting.
#[tokio::test]
async fn who_quotes_all_names_notifies_who_does_not() {
    for quoting in ["on", "off"] {
        let database = Database::empty().await;
        let txn = database.db.begin().await.unwrap();
        let quote = format!("SET LOCAL quote_all_identifiers = {quoting}");
        run(&txn, &quote).await;
        schema::create(&txn).await.unwrap();
        schema::check(&txn).await.unwrap();
        txn.commit().await.unwrap();
        sleep(&database).await;
        let mut ear = Ear::of(&database).await;
        for quoting in ["on", "off"] {
            let txn = database.db.begin().await.unwrap();
            let quote = format!("SET LOCAL quote_all_identifiers = {quoting}");
            run(&txn, &quote).await;
            let event = Thing::said("one");
            database.outbox.emit(&txn, event).await.unwrap();
            txn.commit().await.unwrap();
            assert_eq!(ear.take_wakes(&database).await, 1);
        }
    }
}

#[tokio::test]
async fn emitting_goes_on_in_a_schema_that_was_renamed() {
    let database = Database::plain().await;
    sleep(&database).await;
    let schema = Uuid::now_v7().simple();
    let sql = format!(
        "DO $$ BEGIN EXECUTE format('ALTER SCHEMA %I RENAME TO renamed{schema}', current_schema()); END $$"
    );
    run(&database.db, &sql).await;
    let outbox = Outbox::builder().schema(format!("renamed{schema}"));
    let outbox = outbox.build().unwrap();
    let txn = database.db.begin().await.unwrap();
    outbox.emit(&txn, Thing::said("one")).await.unwrap();
    txn.commit().await.unwrap();
}

#[tokio::test]
async fn the_trigger_can_be_left_out_and_added_later() {
    for database in [
        Database::empty().await,
        Database::hostile_without_tables().await,
    ] {
        let names = database.outbox.names();
        let polled = Outbox::builder().prefix(names.prefix()).polled_only();
        let polled = match names.schema() {
            Some(schema) => polled.schema(schema),
            None => polled,
        };
        let polled = polled.build().unwrap();
        schema::create_with(&polled, &database.db).await.unwrap();
        schema::check_with(&polled, &database.db).await.unwrap();
        schema::check_with(&database.outbox, &database.db)
            .await
            .unwrap();
        assert_eq!(objects(&database).await, 0);
        for _ in 0..2 {
            let outbox = &database.outbox;
            schema::create_with(outbox, &database.db).await.unwrap();
            assert_eq!(objects(&database).await, 3);
        }
        schema::create_with(&polled, &database.db).await.unwrap();
        assert_eq!(objects(&database).await, 3);
    }
}

#[tokio::test]
async fn tables_from_before_it_get_it() {
    let database = Database::hostile().await;
    let sql = "ALTER TABLE \"outbox_dispatcher\" DROP COLUMN sleeps; \
        DROP FUNCTION \"outbox_wake\"() CASCADE";
    run(&database.db, &database.render(sql)).await;
    database.emit(Thing::said("one")).await;
    let outbox = &database.outbox;
    schema::create_with(outbox, &database.db).await.unwrap();
    schema::check_with(outbox, &database.db).await.unwrap();
    assert_eq!(objects(&database).await, 3);
    let sql = "SELECT count(*) AS n FROM \"outbox_event\"";
    assert_eq!(database.number(sql).await, 1);
}

/// What the migrator of this test runs: a migrator has no state.
static OUTBOX: OnceLock<Outbox> = OnceLock::new();

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        migrations_for(OUTBOX.get().unwrap())
    }
}

#[tokio::test]
async fn migrations_leave_the_trigger_out_too() {
    let database = Database::empty().await;
    let polled = Outbox::builder().polled_only().build().unwrap();
    OUTBOX.set(polled).unwrap();
    Migrator::up(&database.db, None).await.unwrap();
    schema::check(&database.db).await.unwrap();
    assert_eq!(objects(&database).await, 0);
    Migrator::down(&database.db, None).await.unwrap();
}
