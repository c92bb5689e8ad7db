//! B123, B125: the outbox's migrations among an application's own.

use super::database::Database;
use outbox_tests::conformance::migrating;

#[tokio::test]
async fn ours_go_up_and_down_with_an_applications() {
    let database = Database::empty().await;
    migrating::ours_go_up_and_down_with_an_applications(&database.db).await;
}

#[tokio::test]
async fn an_outbox_is_added_to_an_application_that_has_migrated() {
    let database = Database::empty().await;
    migrating::an_outbox_is_added_to_an_application_that_has_migrated(&database.db).await;
}

#[tokio::test]
async fn tables_that_exist_already_are_taken_over() {
    let database = Database::empty().await;
    migrating::tables_that_exist_already_are_taken_over(&database.db).await;
}

#[tokio::test]
async fn two_outboxes_do_not_collide() {
    let database = Database::empty().await;
    migrating::two_outboxes_do_not_collide(&database.db).await;
}

#[tokio::test]
async fn a_migrator_of_ours_alone_has_its_own_bookkeeping() {
    let database = Database::empty().await;
    migrating::a_migrator_of_ours_alone_has_its_own_bookkeeping(&database.db).await;
}

#[tokio::test]
async fn several_that_migrate_at_once_end_with_one_whole_schema() {
    let database = Database::empty().await;
    let open = async || database.open_again(1).await;
    migrating::several_that_migrate_at_once_end_with_one_whole_schema(open).await;
}

#[tokio::test]
async fn a_migration_that_was_cancelled_anywhere_is_completed() {
    let database = Database::empty().await;
    let open = async || database.open_again(1).await;
    migrating::a_migration_that_was_cancelled_anywhere_is_completed(open).await;
}
