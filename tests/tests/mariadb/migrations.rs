//! The tables as migrations: MySQL commits at every DDL statement. B123, B125, B127.

use super::{
    database::{self, Database},
    harness::UNEXPECTED,
};
use outbox_migrations::migrations;
use outbox_seaorm::{
    Dispatcher, Outbox, Retention,
    schema::{self, check, create},
};
use outbox_tests::conformance::{Tables, Thing, migrating, names};
use sea_orm::{ConnectionTrait, DbBackend};
use sea_orm_migration::{MigrationTrait, MigratorTrait};
use std::time::Duration;

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        migrations()
    }
}

/// One that was killed midway is run again.
#[tokio::test]
async fn half_a_schema_is_completed() {
    let database = Database::fresh().await;
    for sql in [
        "DROP VIEW outbox_status",
        "DROP TABLE outbox_dispatcher",
        "TRUNCATE outbox_shard",
    ] {
        database.execute(sql, []).await;
    }
    Migrator::up(&database.db, None).await.unwrap();
    check(&database.db).await.unwrap();
    let shards: Vec<i64> = database
        .values("SELECT COUNT(*) AS v FROM outbox_shard")
        .await;
    assert_eq!(shards, [64]);
}

/// Wherever it was.
#[tokio::test]
async fn a_migration_that_was_killed_is_completed() {
    let statements = schema::sql(DbBackend::MySql, &Outbox::default()).unwrap();
    for done in 0..=statements.len() {
        let database = Database::empty("utf8mb3").await;
        for sql in &statements[..done] {
            database.db.execute_unprepared(sql).await.unwrap();
        }
        Migrator::up(&database.db, None).await.unwrap();
        check(&database.db).await.unwrap();
    }
}

#[tokio::test]
async fn several_may_create_at_once() {
    for _ in 0..5 {
        let database = Database::empty("utf8mb4").await;
        let mut tasks = Vec::new();
        for _ in 0..6 {
            let db = database.open(1, "SET @first = 1").await;
            tasks.push(tokio::spawn(async move {
                create(&db).await.unwrap();
                check(&db).await.unwrap();
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    }
}

#[tokio::test]
async fn ours_go_up_and_down_with_an_applications() {
    let database = Database::empty("utf8mb4").await;
    migrating::ours_go_up_and_down_with_an_applications(&database.db).await;
}

#[tokio::test]
async fn an_outbox_is_added_to_an_application_that_has_migrated() {
    let database = Database::empty("utf8mb4").await;
    migrating::an_outbox_is_added_to_an_application_that_has_migrated(&database.db).await;
}

#[tokio::test]
async fn tables_that_exist_already_are_taken_over() {
    let database = Database::empty("utf8mb4").await;
    migrating::tables_that_exist_already_are_taken_over(&database.db).await;
}

#[tokio::test]
async fn two_outboxes_do_not_collide() {
    let database = Database::empty("utf8mb4").await;
    migrating::two_outboxes_do_not_collide(&database.db).await;
}

/// Sessions that refuse what the bookkeeping cannot hold, and those that store something else. The tables
/// may be in another database, whose name needs to be quoted.
#[tokio::test]
async fn outboxes_of_any_name_migrate_whatever_the_character_set() {
    for (charset, first, elsewhere) in [
        ("latin1", UNEXPECTED, true),
        ("latin1", "SET sql_mode = ''", false),
        ("utf8mb3", UNEXPECTED, false),
        ("utf8mb3", "SET sql_mode = ''", true),
    ] {
        let database = Database::empty(charset).await;
        let mut outbox = Outbox::builder();
        if elsewhere {
            let name: Vec<String> = database.values("SELECT DATABASE() AS v").await;
            let name = format!("app-1 `é {}", &name[0][name[0].len() - 20..]);
            let quoted = name.replace('`', "``");
            let sql = format!("CREATE DATABASE `{quoted}` CHARACTER SET {charset}");
            database.db.execute_unprepared(&sql).await.unwrap();
            outbox = outbox.schema(name);
        }
        let db = database.open(4, first).await;
        names::migrate_side_by_side(&Tables::new(&db, &outbox.build().unwrap())).await;
    }
}

#[tokio::test]
async fn a_migrator_of_ours_alone_has_its_own_bookkeeping() {
    let database = Database::empty("utf8mb4").await;
    migrating::a_migrator_of_ours_alone_has_its_own_bookkeeping(&database.db).await;
}

#[tokio::test]
async fn several_that_migrate_at_once_end_with_one_whole_schema() {
    let database = Database::empty("utf8mb4").await;
    let open = async || database.open(1, "SET @first = 1").await;
    migrating::several_that_migrate_at_once_end_with_one_whole_schema(open).await;
}

#[tokio::test]
async fn a_migration_that_was_cancelled_anywhere_is_completed() {
    let database = Database::empty("utf8mb4").await;
    let open = async || database.open(1, "SET @first = 1").await;
    migrating::a_migration_that_was_cancelled_anywhere_is_completed(open).await;
}

/// Who may make tables and views in a database, and nothing else anywhere.
#[tokio::test]
async fn a_plain_owner_migrates_emits_and_delivers() {
    let database = Database::empty("utf8mb4").await;
    let name: Vec<String> = database.values("SELECT DATABASE() AS v").await;
    let user = format!("owner_{}", &name[0][name[0].len() - 20..]);
    let grant = format!(
        "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW \
         ON `{}`.* TO `{user}`@`%`",
        name[0]
    );
    for sql in [format!("CREATE USER `{user}`@`%`"), grant] {
        database.db.execute_unprepared(&sql).await.unwrap();
    }
    let db = &database.open_as(&user, 4).await;
    Migrator::up(db, None).await.unwrap();
    check(db).await.unwrap();
    database::emit(db, Thing::said("one")).await;
    let dispatcher = Dispatcher::builder(db).on_event(|_: Thing, _| async { Ok(()) });
    let dispatcher = dispatcher.build().unwrap();
    let summary = dispatcher.run_until_idle(Duration::from_secs(60)).await;
    assert_eq!(summary.unwrap().delivered, 1);
    let outbox = Outbox::default();
    outbox.prune(db, &Retention::default()).await.unwrap();
    Migrator::down(db, None).await.unwrap();
    let sql = format!("DROP USER `{user}`@`%`");
    database.db.execute_unprepared(&sql).await.unwrap();
}
