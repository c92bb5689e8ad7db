use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection};
use std::path::Path;
use uuid::Uuid;

/// Where the database of a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Sqlite,
    Postgres,
    MariaDb,
}

impl Server {
    /// The URL of a new database, in this folder if it is a file.
    pub(crate) async fn create(self, folder: &Path) -> String {
        let variable = match self {
            Self::Sqlite => {
                let path = folder.join("app.db");
                std::fs::File::create(&path).unwrap();
                return format!("sqlite://{}", path.display());
            }
            Self::Postgres => "OUTBOX_TEST_POSTGRES_URL",
            Self::MariaDb => "OUTBOX_TEST_MARIADB_URL",
        };
        let url = std::env::var(variable);
        let url =
            url.map_err(|_| format!("{variable} is not set: run these tests with ./tests/run"));
        let url = url.unwrap();
        let name = format!("faults_{}", Uuid::now_v7().simple());
        let admin = connect(&url).await;
        let sql = format!("CREATE DATABASE {name}");
        admin.execute_unprepared(&sql).await.unwrap();
        admin.close().await.unwrap();
        let server = url.strip_suffix("/postgres").unwrap_or(&url);
        format!("{}/{name}", server.trim_end_matches('/'))
    }
}

pub(crate) async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}
