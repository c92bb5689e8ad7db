use outbox_seaorm::{OutboxEvent, entity::event, schema};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, EntityTrait, QueryOrder,
};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tempfile::TempDir;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
pub(crate) enum OrderEvent {
    Placed {
        #[outbox(key)]
        order_id: String,
        note: String,
    },
    #[outbox(unordered)]
    Mailed { to: String },
}

pub(crate) fn placed(order_id: impl ToString) -> OrderEvent {
    noted(order_id, "")
}

pub(crate) fn noted(order_id: impl ToString, note: impl Into<String>) -> OrderEvent {
    OrderEvent::Placed {
        order_id: order_id.to_string(),
        note: note.into(),
    }
}

/// A database in memory with the outbox's tables and one table of the application.
pub(crate) async fn memory() -> DatabaseConnection {
    prepare(Database::connect("sqlite::memory:").await.unwrap()).await
}

/// A database in a file.
pub(crate) async fn file(connections: u32) -> (TempDir, DatabaseConnection) {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir.path().join("app.db"), connections).await;
    (dir, prepare(db).await)
}

pub(crate) async fn open(path: &Path, connections: u32) -> DatabaseConnection {
    let mut options = ConnectOptions::new(format!("sqlite://{}?mode=rwc", path.display()));
    options.max_connections(connections).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}

async fn prepare(db: DatabaseConnection) -> DatabaseConnection {
    schema::create(&db).await.unwrap();
    run(&db, "CREATE TABLE \"order\" (id INTEGER PRIMARY KEY)").await;
    db
}

pub(crate) async fn run<C: ConnectionTrait>(db: &C, sql: &str) {
    db.execute_unprepared(sql).await.unwrap();
}

/// The business write of the tests.
pub(crate) async fn insert_order<C: ConnectionTrait>(db: &C, id: i64) {
    run(db, &format!("INSERT INTO \"order\" (id) VALUES ({id})")).await;
}

pub(crate) async fn rows<C: ConnectionTrait>(db: &C) -> Vec<event::Model> {
    event::Entity::find()
        .order_by_asc(event::Column::Seq)
        .all(db)
        .await
        .unwrap()
}

/// The keys of the events that are stored, in their order.
pub(crate) async fn keys<C: ConnectionTrait>(db: &C) -> Vec<String> {
    let keys = rows(db).await.into_iter();
    keys.map(|row| row.aggregate_id.unwrap_or_default())
        .collect()
}

pub(crate) async fn count<C: ConnectionTrait>(db: &C, table: &str) -> i64 {
    let sql = format!("SELECT count(*) AS n FROM {table}");
    let statement = sea_orm::Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await.unwrap().unwrap();
    row.try_get("", "n").unwrap()
}
