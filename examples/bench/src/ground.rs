//! Where it is measured: a schema, a database or a file that nobody else has.

use outbox_seaorm::{BoxError, Outbox, schema};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, DbErr,
    sqlx::sqlite::SqliteJournalMode,
};
use std::{fs, time::Duration};
use uuid::Uuid;

pub(crate) struct Ground {
    backend: DbBackend,
    /// Of the server, as it was given.
    url: String,
    /// With the tables.
    home: Home,
}

enum Home {
    Schema(String),
    Database(String),
    File(String),
    Memory,
}

/// The tables that plain SQL works on: the same as those of the default outbox, the product's.
const PLAIN: &str = "plain_";
/// Events that both are filled from.
const SOURCE: &str = "source_";

impl Ground {
    pub(crate) async fn new(url: &str) -> Result<Self, BoxError> {
        let name = format!("bench_{}", Uuid::now_v7().simple());
        let (backend, home) = match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => (DbBackend::Postgres, Home::Schema(name)),
            Some(("mysql" | "mariadb", _)) => (DbBackend::MySql, Home::Database(name)),
            Some(("sqlite", ":memory:")) => (DbBackend::Sqlite, Home::Memory),
            Some(("sqlite", path)) => {
                let path = path.trim_start_matches("//").split('?').next();
                let path = path.filter(|path| !path.is_empty());
                let path = path.ok_or("--database-url: an SQLite URL needs a file")?;
                (DbBackend::Sqlite, Home::File(format!("{path}.{name}")))
            }
            _ => {
                return Err("--database-url must start with postgres:, mysql: or sqlite:".into());
            }
        };
        let ground = Self {
            backend,
            url: url.to_owned(),
            home,
        };
        match &ground.home {
            Home::Schema(name) => ground.admin(&format!("CREATE SCHEMA {name}")).await?,
            Home::Database(name) => ground.admin(&format!("CREATE DATABASE {name}")).await?,
            Home::File(_) | Home::Memory => {}
        }
        Ok(ground)
    }

    pub(crate) fn backend(&self) -> DbBackend {
        self.backend
    }

    /// For people: which database, and how it is reached.
    pub(crate) fn name(&self) -> String {
        let way = match self.backend {
            DbBackend::Sqlite => "",
            _ if self.url.contains("=/") || self.url.contains("%2F") => ", socket",
            _ => ", TCP",
        };
        format!("{}{way}", self.backend.as_str())
    }

    /// A pool with this many connections.
    pub(crate) async fn connect(&self, connections: u32) -> Result<DatabaseConnection, BoxError> {
        let mut options = ConnectOptions::new(match &self.home {
            Home::Schema(_) => self.url.clone(),
            Home::Database(name) => with_database(&self.url, name),
            Home::File(path) => format!("sqlite://{path}?mode=rwc"),
            Home::Memory => "sqlite::memory:".to_owned(),
        });
        let connections = match self.home {
            Home::Memory => 1,
            _ => connections,
        };
        options
            .max_connections(connections)
            .min_connections(connections)
            .acquire_timeout(Duration::from_secs(60))
            .sqlx_logging(false)
            .map_sqlx_sqlite_opts(|sqlite| {
                sqlite
                    .journal_mode(SqliteJournalMode::Wal)
                    .busy_timeout(Duration::from_secs(60))
            });
        if let Home::Schema(name) = &self.home {
            options.set_schema_search_path(name.clone());
        }
        Ok(Database::connect(options).await?)
    }

    /// A pool, with the tables of the outbox, of plain SQL, and of an application.
    pub(crate) async fn prepare(&self, connections: u32) -> Result<DatabaseConnection, BoxError> {
        let db = self.connect(connections).await?;
        for outbox in [Outbox::default(), plain_outbox()?, source_outbox()?] {
            schema::create_with(&outbox, &db).await?;
        }
        let id = match self.backend {
            DbBackend::Postgres => "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            DbBackend::MySql => "BIGINT AUTO_INCREMENT PRIMARY KEY",
            _ => "INTEGER PRIMARY KEY",
        };
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS business (id {id}, customer BIGINT NOT NULL, total BIGINT NOT NULL)"
        );
        db.execute_unprepared(&sql).await?;
        Ok(db)
    }

    /// The default outbox by another name of its schema: whoever emits through it does not tell the
    /// dispatchers of this process, as if it were another.
    pub(crate) fn outbox_apart(&self) -> Result<Outbox, BoxError> {
        let schema = match &self.home {
            Home::Schema(name) | Home::Database(name) => name,
            Home::File(_) | Home::Memory => "main",
        };
        Ok(Outbox::builder().schema(schema).build()?)
    }

    /// Removes all that was made.
    pub(crate) async fn remove(self) -> Result<(), BoxError> {
        match &self.home {
            Home::Schema(name) => {
                // With everything in it; no lock of a connection that is still closing is waited for.
                self.admin(&format!("DROP SCHEMA {name} CASCADE")).await?;
            }
            Home::Database(name) => self.admin(&format!("DROP DATABASE {name}")).await?,
            Home::File(path) => {
                for end in ["", "-wal", "-shm"] {
                    let _ = fs::remove_file(format!("{path}{end}"));
                }
            }
            Home::Memory => {}
        }
        Ok(())
    }

    async fn admin(&self, sql: &str) -> Result<(), BoxError> {
        let mut options = ConnectOptions::new(&self.url);
        options.max_connections(1).sqlx_logging(false);
        let db = Database::connect(options).await?;
        db.execute_unprepared(sql).await?;
        Ok(db.close().await?)
    }
}

pub(crate) fn plain_outbox() -> Result<Outbox, BoxError> {
    Ok(Outbox::builder().prefix(PLAIN).build()?)
}

pub(crate) fn source_outbox() -> Result<Outbox, BoxError> {
    Ok(Outbox::builder().prefix(SOURCE).build()?)
}

/// Empties tables, so that one measurement leaves nothing for the next to pass over.
pub(crate) async fn empty(db: &DatabaseConnection, tables: &[&str]) -> Result<(), DbErr> {
    let verb = match db.get_database_backend() {
        DbBackend::Sqlite => "DELETE FROM",
        _ => "TRUNCATE TABLE",
    };
    for table in tables {
        db.execute_unprepared(&format!("{verb} {table}")).await?;
    }
    Ok(())
}

/// The URL of another database on the same server.
fn with_database(url: &str, name: &str) -> String {
    let (rest, query) = match url.split_once('?') {
        Some((rest, query)) => (rest, format!("?{query}")),
        None => (url, String::new()),
    };
    let start = rest.find("://").map_or(0, |at| at + 3);
    let server = match rest[start..].find('/') {
        Some(at) => &rest[..start + at],
        None => rest,
    };
    format!("{server}/{name}{query}")
}
