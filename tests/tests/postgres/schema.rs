//! Making and removing the tables. B023, B024, B125, B127, B130.

use super::database::{self, Database};
use outbox_core::store::{Store, StoreErrorKind};
use outbox_migrations::{migrations, migrations_for};
use outbox_seaorm::{
    Dispatcher, Outbox, Retention, SeaOrmStore, entity, is_contention,
    schema::{self, SchemaErrorKind},
};
use outbox_tests::{
    Proxy,
    conformance::{Tables, Thing},
};
use sea_orm::{DbErr, PaginatorTrait, TransactionTrait};
use sea_orm_migration::{MigrationTrait, MigratorTrait};
use std::{sync::OnceLock, time::Duration};
use uuid::Uuid;

#[tokio::test]
async fn several_may_create_at_once() {
    for database in [
        Database::empty().await,
        Database::hostile_without_tables().await,
    ] {
        let mut tasks = Vec::new();
        for _ in 0..6 {
            let (db, outbox) = (database.open_again(1).await, database.outbox.clone());
            tasks.push(tokio::spawn(async move {
                schema::create_with(&outbox, &db).await.unwrap();
                schema::check_with(&outbox, &db).await.unwrap();
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let sql = "SELECT count(*) AS n FROM \"outbox_shard\"";
        assert_eq!(database.number(sql).await, 64);
    }
}

/// SeaORM's bookkeeping takes no lock: who comes second may fail, and succeeds when it runs again. Where
/// sessions are SERIALIZABLE it is told that another transaction was in the way.
#[tokio::test]
async fn several_that_migrate_at_once_end_with_one_whole_schema() {
    let database = Database::hostile_without_tables().await;
    ODD.set(database.outbox.clone()).unwrap();
    OddMigrator::install(&database.db).await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..6 {
        let (db, outbox) = (database.open_again(1).await, database.outbox.clone());
        tasks.push(tokio::spawn(async move {
            let mut tries = 0;
            while let Err(error) = OddMigrator::up(&db, None).await {
                tries += 1;
                assert!(is_contention(&error) && tries < 20, "{error}");
            }
            schema::check_with(&outbox, &db).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn creating_again_changes_nothing_and_waits_for_no_writer() {
    let database = Database::plain().await;
    let txn = sea_orm::TransactionTrait::begin(&database.db)
        .await
        .unwrap();
    database
        .outbox
        .emit(&txn, Thing::said("one"))
        .await
        .unwrap();
    let again = schema::create(&database.db);
    tokio::time::timeout(Duration::from_secs(60), again)
        .await
        .unwrap()
        .unwrap();
    txn.commit().await.unwrap();
    assert_eq!(
        database
            .number("SELECT count(*) AS n FROM outbox_event")
            .await,
        1
    );
}

#[tokio::test]
async fn entities_read_every_state() {
    let database = Database::hostile().await;
    database.emit(Thing::said("one")).await;
    let hour = Duration::from_secs(3600);
    database.emit(Thing::said("two").after(hour)).await;
    let (db, outbox) = (&database.db, &database.outbox);
    assert_eq!(
        outbox
            .find::<entity::event::Entity>()
            .all(db)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        outbox
            .find::<entity::delayed::Entity>()
            .all(db)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        outbox
            .find::<entity::dead::Entity>()
            .count(db)
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        outbox
            .find::<entity::delivered::Entity>()
            .count(db)
            .await
            .unwrap(),
        0
    );
    let status = outbox
        .find::<entity::status::Entity>()
        .all(db)
        .await
        .unwrap();
    assert_eq!(status.len(), 2);
}

#[tokio::test]
async fn decoys_on_the_search_path_stay_untouched() {
    let database = Database::hostile().await;
    // Without its schema the outbox would be the one of the decoys.
    let names = Outbox::builder().prefix(database.outbox.names().prefix());
    let decoys = names.build().unwrap();
    schema::check_with(&decoys, &database.db).await.unwrap_err();
    database.emit(Thing::said("one")).await;
    // With none at all everything is found as well.
    let lost = database.open_again(1).await;
    database::run(&lost, "SET search_path = ''").await;
    schema::check_with(&database.outbox, &lost).await.unwrap();
    let store = SeaOrmStore::new(&lost, &database.outbox);
    let dispatcher = Dispatcher::builder(store).on_event(|_: Thing, _| async { Ok(()) });
    let dispatcher = dispatcher.build().unwrap();
    let summary = dispatcher.run_until_idle(Duration::from_secs(60)).await;
    assert_eq!(summary.unwrap().delivered, 1);
    let decoys = Tables::new(&database.db, &decoys);
    let sql = "SELECT count(*)::text AS v FROM \"outbox_event\"";
    assert_eq!(decoys.texts(sql).await, ["0"]);
}

/// Where sessions do not wait for locks.
#[tokio::test]
async fn what_is_locked_is_told_and_nothing_is_half_made() {
    let database = Database::empty().await;
    let impatient = database.open_again(1).await;
    database::run(&impatient, "SET lock_timeout = '30ms'").await;
    let refused = async || {
        let error = schema::create(&impatient).await.unwrap_err();
        assert_eq!(error.kind(), SchemaErrorKind::Database);
        let source = DbErr::from(error);
        assert!(is_contention(&source), "{source}");
    };
    let made = async || {
        let sql = "SELECT count(*) AS n FROM pg_class \
            WHERE relnamespace = current_schema()::regnamespace";
        database.number(sql).await
    };
    // Somebody else is making them.
    let other = database.db.begin().await.unwrap();
    let sql = "SELECT pg_advisory_xact_lock(hashtextextended('outbox-seaorm schema', 0))";
    database::run(&other, sql).await;
    refused().await;
    other.rollback().await.unwrap();
    assert_eq!(made().await, 0);
    // Somebody writes to a table that is to get an index.
    schema::create(&database.db).await.unwrap();
    let sql = "DROP INDEX outbox_event_shard_idx; DROP TABLE outbox_inbox";
    database::run(&database.db, sql).await;
    let before = made().await;
    let writer = database.db.begin().await.unwrap();
    let emitted = database.outbox.emit(&writer, Thing::said("one")).await;
    emitted.unwrap();
    refused().await;
    assert_eq!(made().await, before);
    writer.commit().await.unwrap();
    schema::create(&database.db).await.unwrap();
    schema::check(&impatient).await.unwrap();
}

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        migrations()
    }
}

/// What the migrator below runs: a migrator has no state.
static ODD: OnceLock<Outbox> = OnceLock::new();

/// That of an outbox with odd names.
struct OddMigrator;

impl MigratorTrait for OddMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        migrations_for(ODD.get().unwrap())
    }
}

#[tokio::test]
async fn migrations_go_up_and_down() {
    let database = Database::empty().await;
    for _ in 0..2 {
        Migrator::up(&database.db, None).await.unwrap();
        schema::check(&database.db).await.unwrap();
        database.emit(Thing::said("one")).await;
        Migrator::down(&database.db, None).await.unwrap();
        let sql = "SELECT count(*) AS n FROM pg_class WHERE relname LIKE 'outbox%' \
            AND relnamespace = current_schema()::regnamespace";
        assert_eq!(database.number(sql).await, 0);
    }
}

/// No extension, no right of a superuser, and none on anything that is not its own.
#[tokio::test]
async fn a_plain_owner_migrates_emits_and_delivers() {
    let role = format!("owner{}", Uuid::now_v7().simple());
    let database = Database::of_a_plain_role(&role).await;
    let db = &database.db;
    Migrator::up(db, None).await.unwrap();
    schema::check(db).await.unwrap();
    database.emit(Thing::said("one")).await;
    let dispatcher = Dispatcher::builder(db).on_event(|_: Thing, _| async { Ok(()) });
    let dispatcher = dispatcher.build().unwrap();
    let summary = dispatcher.run_until_idle(Duration::from_secs(60)).await;
    assert_eq!(summary.unwrap().delivered, 1);
    let retention = Retention::default();
    database.outbox.prune(db, &retention).await.unwrap();
    Migrator::down(db, None).await.unwrap();
    let sql = format!("RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}");
    database::run(db, &sql).await;
}

/// What is deleted by age, or soon, leaves room that is wanted back before a fifth of a table is dead.
#[tokio::test]
async fn tables_that_are_deleted_from_are_vacuumed_early() {
    let database = Database::plain().await;
    for table in ["event", "delayed", "delivered", "dedupe", "inbox"] {
        let sql = format!(
            "SELECT count(*) AS n FROM pg_class AS c, unnest(c.reloptions) AS o (text) \
             WHERE c.oid = 'outbox_{table}'::regclass \
             AND o.text LIKE 'autovacuum_vacuum_scale_factor=0.0_'"
        );
        assert_eq!(database.number(&sql).await, 1, "{table}");
    }
}

/// A server before 13 has no `pg_current_xact_id`, and would tell of that at some statement.
#[tokio::test]
async fn a_server_that_is_too_old_is_told_before_anything_is_made() {
    let database = Database::empty().await;
    let proxy = Proxy::rewording(database::port(), b">= 130000", b">= 990000").await;
    let through = database.open_through(proxy.port, "", 1).await;
    for error in [
        schema::check(&through).await.unwrap_err(),
        schema::create(&through).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), SchemaErrorKind::ServerTooOld);
        let text = error.to_string();
        let told = text.starts_with("the outbox needs PostgreSQL 13 or later, and this is 1");
        assert!(told, "{text}");
    }
    let store = SeaOrmStore::new(&through, &database.outbox);
    let error = store.check().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
    let sql = "SELECT count(*) AS n FROM pg_class \
        WHERE relnamespace = current_schema()::regnamespace";
    assert_eq!(database.number(sql).await, 0);
}
