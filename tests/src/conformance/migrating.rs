//! The outbox's migrations among an application's own. B123, B125.

use outbox_migrations::{migrations, migrations_for};
use outbox_seaorm::{
    Outbox,
    schema::{check, check_with},
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbErr, DynIden, Statement, sea_query::IntoIden,
};
use sea_orm_migration::{
    MigrationName, MigrationStatus, MigrationTrait, MigratorTrait, SchemaManager,
};
use std::time::{Duration, Instant};

struct Own(&'static str);

impl MigrationName for Own {
    fn name(&self) -> &str {
        self.0
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Own {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = format!("CREATE TABLE IF NOT EXISTS {} (id INTEGER)", self.0);
        let db = manager.get_connection();
        db.execute_unprepared(&sql).await.map(drop)
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = format!("DROP TABLE {}", self.0);
        let db = manager.get_connection();
        db.execute_unprepared(&sql).await.map(drop)
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
#[derive(Debug)]
pub struct Between;

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

/// Ours alone, in the application's bookkeeping: it does not know the application's.
struct Alone;

impl MigratorTrait for Alone {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        migrations()
    }
}

/// Ours alone, with a bookkeeping table of their own.
struct Apart;

impl MigratorTrait for Apart {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        migrations()
    }

    fn migration_table_name() -> DynIden {
        "outbox_migrations".into_iden()
    }
}

async fn count(db: &DatabaseConnection, table: &str) -> i64 {
    let sql = format!("SELECT count(*) AS n FROM {table}");
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await.unwrap().unwrap();
    row.try_get("", "n").unwrap()
}

/// Up, again, down and up.
pub async fn ours_go_up_and_down_with_an_applications(db: &DatabaseConnection) {
    Between::up(db, None).await.unwrap();
    check(db).await.unwrap();
    Between::up(db, None).await.unwrap();
    Between::status(db).await.unwrap();
    let all = Between::get_migration_with_status(db).await.unwrap();
    let applied = |one: &sea_orm_migration::Migration| one.status() == MigrationStatus::Applied;
    assert!(all.iter().all(applied));
    Between::down(db, None).await.unwrap();
    assert_eq!(count(db, "seaql_migrations").await, 0);
    check(db).await.unwrap_err();
    // One after the other.
    for step in 1..=3 {
        Between::up(db, Some(1)).await.unwrap();
        assert_eq!(count(db, "seaql_migrations").await, step);
    }
    check(db).await.unwrap();
    Between::refresh(db).await.unwrap();
    check(db).await.unwrap();
}

/// Its second migration is younger in the list, and was applied before ours.
pub async fn an_outbox_is_added_to_an_application_that_has_migrated(db: &DatabaseConnection) {
    Without::up(db, None).await.unwrap();
    Between::up(db, None).await.unwrap();
    check(db).await.unwrap();
    assert_eq!(Between::get_pending_migrations(db).await.unwrap().len(), 0);
    assert_eq!(count(db, "m2_order").await, 0);
}

/// By `schema::create`, or by a tool that runs the statements.
pub async fn tables_that_exist_already_are_taken_over(db: &DatabaseConnection) {
    outbox_seaorm::schema::create(db).await.unwrap();
    Between::up(db, None).await.unwrap();
    check(db).await.unwrap();
}

/// Each has its own tables and its own name in the bookkeeping.
pub async fn two_outboxes_do_not_collide(db: &DatabaseConnection) {
    Two::up(db, None).await.unwrap();
    check(db).await.unwrap();
    check_with(&billing(), db).await.unwrap();
    Two::down(db, Some(1)).await.unwrap();
    check(db).await.unwrap();
    assert!(check_with(&billing(), db).await.is_err());
}

/// Before the application's or after them; in one bookkeeping table two migrators refuse each other, and
/// change nothing.
pub async fn a_migrator_of_ours_alone_has_its_own_bookkeeping(db: &DatabaseConnection) {
    Apart::up(db, None).await.unwrap();
    check(db).await.unwrap();
    Without::up(db, None).await.unwrap();
    Apart::up(db, None).await.unwrap();
    let refused = Alone::up(db, None).await.unwrap_err();
    assert!(refused.to_string().contains("m1_user"), "{refused}");
    check(db).await.unwrap();
    Apart::down(db, None).await.unwrap();
    assert_eq!(count(db, "m1_user").await, 0);
    Apart::up(db, None).await.unwrap();
    check(db).await.unwrap();
}

/// Tries until nobody is in the way: SeaORM's bookkeeping takes no lock, and who comes second may fail.
async fn migrate(db: &DatabaseConnection) {
    let mut tries = 0;
    while let Err(error) = Between::up(db, None).await {
        tries += 1;
        assert!(tries < 40, "{error}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    check(db).await.unwrap();
}

/// On a connection each.
pub async fn several_that_migrate_at_once_end_with_one_whole_schema(
    open: impl AsyncFn() -> DatabaseConnection,
) {
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let db = open().await;
        tasks.push(tokio::spawn(async move { migrate(&db).await }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let db = open().await;
    assert_eq!(count(&db, "seaql_migrations").await, 3);
    let backend = db.get_database_backend();
    let shards = match backend {
        sea_orm::DbBackend::Sqlite => 1,
        _ => 64,
    };
    assert_eq!(count(&db, "outbox_shard").await, shards);
}

/// Whoever comes next completes it, and meets no lock that was left behind.
pub async fn a_migration_that_was_cancelled_anywhere_is_completed(
    open: impl AsyncFn() -> DatabaseConnection,
) {
    let mut chance = fastrand::Rng::with_seed(5);
    let db = open().await;
    let begun = Instant::now();
    Between::up(&db, None).await.unwrap();
    let whole = begun.elapsed();
    let mut cut_off = 0;
    for _ in 0..50 {
        Between::down(&db, None).await.unwrap();
        db.execute_unprepared("DROP TABLE seaql_migrations")
            .await
            .unwrap();
        let cancelled = open().await;
        let up = Between::up(&cancelled, None);
        let when = whole.mul_f64(chance.f64());
        cut_off += u8::from(tokio::time::timeout(when, up).await.is_err());
        migrate(&db).await;
        assert_eq!(count(&db, "seaql_migrations").await, 3);
    }
    println!("{cut_off} of 50 were cut off, of what takes {whole:?}");
    assert!(cut_off > 10);
}
