//! Whether the server is as new as the statements need, and its sessions are such that they work.

use super::SchemaError;
use sea_orm::{ConnectionTrait, DbBackend, QueryResult, Statement};

/// It says so itself.
const POSTGRES: &str = "SELECT pg_catalog.current_setting('server_version') AS version, \
    CASE WHEN pg_catalog.current_setting('server_version_num')::int >= 130000 \
    THEN 1::bigint ELSE 0::bigint END AS fits";

/// What it says may be set. A comment with `M!` is code to MariaDB alone, from that version on; one
/// with `!8` to MySQL alone.
const MYSQL: &str = "SELECT CAST(VERSION() AS CHAR(100)) AS version, \
    CAST(0 /*M!100600 + 1 */ /*!80016 + 1 */ AS SIGNED) AS fits, \
    CAST(@@SESSION.autocommit AS SIGNED) AS commits, \
    CAST(FIND_IN_SET('EMPTY_STRING_IS_NULL', @@SESSION.sql_mode) AS SIGNED) AS nulls";

/// The library that is compiled or linked in.
const SQLITE: &str = "SELECT sqlite_version() AS version, \
    CASE WHEN substr(sqlite_version(), 1, 2) = '3.' \
    AND CAST(substr(sqlite_version(), 3) AS INTEGER) < 35 THEN 0 ELSE 1 END AS fits";

/// Fails where the server is too old, which statements would tell of one after the other, in words
/// of their own; or where its sessions are such that no dispatcher would ever get anywhere.
pub(super) async fn check<C: ConnectionTrait>(db: &C) -> Result<(), SchemaError> {
    let backend = db.get_database_backend();
    let sql = match backend {
        DbBackend::Postgres => POSTGRES,
        DbBackend::MySql => MYSQL,
        DbBackend::Sqlite => SQLITE,
        _ => return Err(SchemaError::unsupported(backend)),
    };
    let row = db
        .query_one_raw(Statement::from_string(backend, sql))
        .await?;
    let Some(row) = row else { return Ok(()) };
    let fits: i64 = row.try_get("", "fits")?;
    if fits > 0 {
        return match backend {
            DbBackend::MySql => check_session(&row),
            _ => Ok(()),
        };
    }
    let version: String = row.try_get("", "version")?;
    Err(SchemaError::too_old(oldest(backend, &version), version))
}

/// What sets sessions up may be far away: in the server's `init_connect`, in a pool's options.
fn check_session(row: &QueryResult) -> Result<(), SchemaError> {
    let (commits, nulls): (i64, i64) = (row.try_get("", "commits")?, row.try_get("", "nulls")?);
    // A lease would never be committed, and who reads would see for ever what he saw first.
    if commits == 0 {
        return Err(SchemaError::session("autocommit = 1", "autocommit = 0"));
    }
    // Bound parameters as well, of which some are empty in columns that are NOT NULL.
    if nulls > 0 {
        let without = "a sql_mode without EMPTY_STRING_IS_NULL";
        return Err(SchemaError::session(without, "a sql_mode with it"));
    }
    Ok(())
}

/// What is needed where this version was found.
fn oldest(backend: DbBackend, version: &str) -> &'static str {
    match backend {
        DbBackend::Postgres => "PostgreSQL 13",
        DbBackend::MySql if version.contains("MariaDB") => "MariaDB 10.6",
        DbBackend::MySql => "MySQL 8.0.16",
        _ => "SQLite 3.35",
    }
}
