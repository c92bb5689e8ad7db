//! B123, B125: the outbox's migrations among an application's own, on SQLite.

use crate::support::{count, open};
use outbox_tests::conformance::migrating;
use sea_orm::{Database, DatabaseConnection};
use tempfile::TempDir;

async fn memory() -> DatabaseConnection {
    Database::connect("sqlite::memory:").await.unwrap()
}

#[tokio::test]
async fn up_again_status_down_and_up() {
    let db = memory().await;
    migrating::ours_go_up_and_down_with_an_applications(&db).await;
    use sea_orm_migration::MigratorTrait;
    migrating::Between::fresh(&db).await.unwrap();
    outbox_seaorm::schema::check(&db).await.unwrap();
    migrating::Between::down(&db, None).await.unwrap();
    let left = "sqlite_master WHERE name LIKE 'outbox!_%' ESCAPE '!'";
    assert_eq!(count(&db, left).await, 0);
}

#[tokio::test]
async fn an_outbox_is_added_to_an_application_that_has_migrated() {
    let db = memory().await;
    migrating::an_outbox_is_added_to_an_application_that_has_migrated(&db).await;
}

#[tokio::test]
async fn tables_that_exist_already_are_taken_over() {
    migrating::tables_that_exist_already_are_taken_over(&memory().await).await;
}

#[tokio::test]
async fn two_outboxes_do_not_collide() {
    migrating::two_outboxes_do_not_collide(&memory().await).await;
}

#[tokio::test]
async fn a_migrator_of_ours_alone_has_its_own_bookkeeping() {
    migrating::a_migrator_of_ours_alone_has_its_own_bookkeeping(&memory().await).await;
}

fn file() -> (TempDir, impl AsyncFn() -> DatabaseConnection) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.db");
    (directory, async move || open(&path, 1).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn several_that_migrate_at_once_end_with_one_whole_schema() {
    let (_directory, open) = file();
    migrating::several_that_migrate_at_once_end_with_one_whole_schema(open).await;
}

#[tokio::test]
async fn a_migration_that_was_cancelled_anywhere_is_completed() {
    let (_directory, open) = file();
    migrating::a_migration_that_was_cancelled_anywhere_is_completed(open).await;
}
