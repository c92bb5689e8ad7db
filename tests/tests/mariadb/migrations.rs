//! The tables as migrations: MySQL commits at every DDL statement.

use super::database::Database;
use outbox_migrations::migrations;
use outbox_seaorm::schema::check;
use sea_orm_migration::{MigrationTrait, MigratorTrait};

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        migrations()
    }
}

#[tokio::test]
async fn up_again_down_and_up() {
    let database = Database::empty("latin1").await;
    let db = &database.db;
    Migrator::up(db, None).await.unwrap();
    check(db).await.unwrap();
    Migrator::up(db, None).await.unwrap();
    Migrator::down(db, None).await.unwrap();
    assert!(check(db).await.is_err());
    Migrator::up(db, None).await.unwrap();
    check(db).await.unwrap();
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
