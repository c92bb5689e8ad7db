use outbox_core::{Draft, Due, Headers, Limits, NewEvent};
use outbox_seaorm::{SeaOrmStore, schema::Names};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database as SeaDatabase, DatabaseConnection, DbBackend,
    QueryResult, Statement, Value,
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
        create(&db).await;
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
        create(&db).await;
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

    fn path(&self) -> PathBuf {
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

/// Writes an event.
pub(crate) async fn emit<C: ConnectionTrait>(db: &C, event: Draft) -> Uuid {
    let event = event.finish(&Limits::default(), &Headers::new()).unwrap();
    let id = event.id;
    match event.due {
        Due::Now => insert(db, event).await,
        Due::After(delay) => insert_delayed(db, event, delay.as_secs_f64()).await,
        Due::At(_) => unreachable!("no law emits at a given time"),
    }
    id
}

async fn insert<C: ConnectionTrait>(db: &C, event: NewEvent) {
    let sql = "INSERT INTO outbox_event (id, aggregatetype, aggregateid, topic, payload, headers, \
        occurred_at, ordered) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    execute(db, sql, columns(event)).await;
}

async fn insert_delayed<C: ConnectionTrait>(db: &C, event: NewEvent, seconds: f64) {
    let sql = "INSERT INTO outbox_delayed (id, aggregatetype, aggregateid, topic, payload, \
        headers, occurred_at, ordered, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, \
        strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', ?9 || ' seconds'))";
    let [a, b, c, d, e, f, g, h] = columns(event);
    execute(db, sql, [a, b, c, d, e, f, g, h, seconds.into()]).await;
}

fn columns(event: NewEvent) -> [Value; 8] {
    [
        event.id.into(),
        event.aggregate.into(),
        event.key.into(),
        event.topic.into(),
        event.payload.into(),
        event.headers.into(),
        event.occurred_at.naive_utc().into(),
        event.ordered.into(),
    ]
}

async fn open(url: &str, connections: u32) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).sqlx_logging(false);
    SeaDatabase::connect(options).await.unwrap()
}

async fn create(db: &DatabaseConnection) {
    let ddl = include_str!("../../../outbox-seaorm/src/schema/sqlite.sql");
    let ddl = Names::default().render(DbBackend::Sqlite, ddl);
    db.execute_unprepared(&ddl).await.unwrap();
}

fn url(path: &Path) -> String {
    let path = path.to_str().unwrap();
    let path = path.replace('%', "%25").replace('?', "%3F");
    format!("sqlite://{path}?mode=rwc")
}
