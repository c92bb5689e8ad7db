use outbox_core::Draft;
use outbox_seaorm::{Emit, SeaOrmStore, schema};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database as SeaDatabase, DatabaseConnection, DbBackend,
    QueryResult, Statement, TransactionTrait, Value,
};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use uuid::Uuid;

/// A fresh database with the tables, and its directory if it has one.
pub(crate) struct Database {
    pub(crate) db: DatabaseConnection,
    directory: Option<TempDir>,
}

impl Database {
    /// In memory: SeaORM's default pool, which is one connection.
    pub(crate) async fn in_memory() -> Self {
        let db = open("sqlite::memory:", 1).await;
        schema::create(&db).await.unwrap();
        Self {
            db,
            directory: None,
        }
    }

    /// In a file whose path would mean something else in a URL, with several connections.
    pub(crate) async fn in_file() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("50% odd?#&.db");
        let db = open(&url(&path), 4).await;
        schema::create(&db).await.unwrap();
        Self {
            db,
            directory: Some(directory),
        }
    }

    /// Another pool on the same file.
    pub(crate) async fn open_again(&self) -> DatabaseConnection {
        open(&url(&self.path()), 1).await
    }

    /// The same file, through this pool.
    pub(crate) fn replace(self, db: DatabaseConnection) -> Self {
        Self { db, ..self }
    }

    pub(crate) fn path(&self) -> PathBuf {
        let directory = self.directory.as_ref().unwrap();
        directory.path().join("50% odd?#&.db")
    }

    /// A store of its own, as each dispatcher makes one.
    pub(crate) fn store(&self) -> SeaOrmStore {
        SeaOrmStore::from(&self.db)
    }

    pub(crate) async fn execute<const N: usize>(&self, sql: &str, values: [Value; N]) {
        execute(&self.db, sql, values).await;
    }

    pub(crate) async fn query(&self, sql: &str) -> Vec<QueryResult> {
        let statement = Statement::from_string(DbBackend::Sqlite, sql);
        self.db.query_all_raw(statement).await.unwrap()
    }

    /// How many rows the connection has written; for a pool of one connection.
    pub(crate) async fn total_changes(&self) -> i64 {
        let rows = self.query("SELECT total_changes() AS n").await;
        rows[0].try_get("", "n").unwrap()
    }
}

pub(crate) async fn execute<C: ConnectionTrait, const N: usize>(
    db: &C,
    sql: &str,
    values: [Value; N],
) {
    let statement = Statement::from_sql_and_values(DbBackend::Sqlite, sql, values);
    db.execute_raw(statement).await.unwrap();
}

/// Emits an event in a transaction of its own.
pub(crate) async fn emit(db: &DatabaseConnection, event: Draft) -> Uuid {
    let txn = db.begin().await.unwrap();
    let emitted = txn.emit(event).await.unwrap();
    txn.commit().await.unwrap();
    emitted.id()
}

async fn open(url: &str, connections: u32) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).sqlx_logging(false);
    SeaDatabase::connect(options).await.unwrap()
}

fn url(path: &Path) -> String {
    let path = path.to_str().unwrap();
    let path = path.replace('%', "%25").replace('?', "%3F");
    format!("sqlite://{path}?mode=rwc")
}
