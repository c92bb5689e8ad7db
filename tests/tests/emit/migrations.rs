//! B123, B125: the outbox's migrations among an application's own.

use crate::support::{count, open};
use outbox_migrations::{migrations, migrations_for};
use outbox_seaorm::{
    Outbox,
    schema::{check, check_with},
};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbErr};
use sea_orm_migration::{
    MigrationName, MigrationStatus, MigrationTrait, MigratorTrait, SchemaManager,
};

struct Own(&'static str);

impl MigrationName for Own {
    fn name(&self) -> &str {
        self.0
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Own {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS \"{}\" (id INTEGER PRIMARY KEY)",
            self.0
        );
        manager
            .get_connection()
            .execute_unprepared(&sql)
            .await
            .map(|_| ())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = format!("DROP TABLE \"{}\"", self.0);
        manager
            .get_connection()
            .execute_unprepared(&sql)
            .await
            .map(|_| ())
    }
}

fn own(name: &'static str) -> Box<dyn MigrationTrait> {
    Box::new(Own(name))
}

/// The application before it had an outbox.
struct Without;

impl MigratorTrait for Without {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![own("m1_user"), own("m2_order")]
    }
}

/// Ours between two of the application's.
struct Between;

impl MigratorTrait for Between {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut all = vec![own("m1_user")];
        all.extend(migrations());
        all.push(own("m2_order"));
        all
    }
}

/// Two outboxes in one application.
struct Two;

fn billing() -> Outbox {
    Outbox::builder().prefix("billing_").build().unwrap()
}

impl MigratorTrait for Two {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut all = migrations();
        all.extend(migrations_for(&billing()));
        all
    }
}

async fn memory() -> DatabaseConnection {
    Database::connect("sqlite::memory:").await.unwrap()
}

#[tokio::test]
async fn up_again_status_down_and_up() {
    let db = memory().await;
    Between::up(&db, None).await.unwrap();
    check(&db).await.unwrap();
    Between::up(&db, None).await.unwrap();
    Between::status(&db).await.unwrap();
    let all = Between::get_migration_with_status(&db).await.unwrap();
    assert!(
        all.iter()
            .all(|one| one.status() == MigrationStatus::Applied)
    );
    Between::down(&db, None).await.unwrap();
    assert_eq!(
        count(&db, "sqlite_master WHERE name LIKE 'outbox!_%' ESCAPE '!'").await,
        0
    );
    Between::up(&db, None).await.unwrap();
    check(&db).await.unwrap();
    Between::fresh(&db).await.unwrap();
    check(&db).await.unwrap();
}

#[tokio::test]
async fn an_outbox_is_added_to_an_application_that_has_migrated() {
    let db = memory().await;
    Without::up(&db, None).await.unwrap();
    Between::up(&db, None).await.unwrap();
    check(&db).await.unwrap();
    assert_eq!(Between::get_pending_migrations(&db).await.unwrap().len(), 0);
}

#[tokio::test]
async fn tables_that_exist_already_are_taken_over() {
    let db = memory().await;
    outbox_seaorm::schema::create(&db).await.unwrap();
    Between::up(&db, None).await.unwrap();
    check(&db).await.unwrap();
}

#[tokio::test]
async fn two_outboxes_do_not_collide() {
    let db = memory().await;
    Two::up(&db, None).await.unwrap();
    check(&db).await.unwrap();
    check_with(&billing(), &db).await.unwrap();
    Two::down(&db, Some(1)).await.unwrap();
    check(&db).await.unwrap();
    assert!(check_with(&billing(), &db).await.is_err());
}

// SeaORM's bookkeeping takes no lock: who comes second may fail, and succeeds when it runs again.
#[tokio::test(flavor = "multi_thread")]
async fn several_that_migrate_at_once_end_with_one_whole_schema() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("app.db");
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let db = open(&path, 1).await;
        tasks.push(tokio::spawn(async move {
            let mut tries = 0;
            while let Err(error) = Between::up(&db, None).await {
                tries += 1;
                assert!(tries < 20, "{error}");
            }
            check(&db).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let db = open(&path, 1).await;
    assert_eq!(count(&db, "seaql_migrations").await, 3);
    assert_eq!(count(&db, "outbox_shard").await, 1);
}
