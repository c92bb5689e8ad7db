//! What a database error means, by its code: messages are translated on some servers.

use sea_orm::{
    DbBackend, DbErr, RuntimeErr,
    sqlx::{self, error::DatabaseError},
};

/// What a failed statement says about the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A table or column is not there, or not as this version expects it.
    Missing,
    /// Another transaction was in the way: the same transaction may succeed when run again.
    Contention,
    /// The database does not take these data.
    Refused,
    /// Anything else, an outage first of all: nothing is given up for an error that is not known.
    Unavailable,
}

pub(crate) fn meaning(backend: DbBackend, error: &DbErr) -> Meaning {
    if let Some(error) = driver_error(error) {
        return of_driver(backend, error);
    }
    match error {
        DbErr::BackendNotSupported { .. } | DbErr::Type(_) | DbErr::TryIntoErr { .. } => {
            Meaning::Missing
        }
        DbErr::RecordNotInserted => Meaning::Refused,
        _ => Meaning::Unavailable,
    }
}

/// Whether it is [`Meaning::Contention`], where nobody says which database it was.
pub(crate) fn is_contention(error: &DbErr) -> bool {
    backend_of(error).is_some_and(|backend| meaning(backend, error) == Meaning::Contention)
}

/// Whether the session is of no use any more. On a server nothing can be written through it, as once that
/// has become a replica; another may be one of the new primary. On SQLite the transaction may have ended by
/// itself, for want of room or memory: sqlx goes on to count it, takes the next one for a nested one, and
/// that commits nothing.
pub(crate) fn spoils_session(backend: DbBackend, error: &DbErr) -> bool {
    const NO_MEMORY: u32 = 7;
    const IO: u32 = 10;
    const FULL: u32 = 13;
    let error = driver_error(error).and_then(sqlx::Error::as_database_error);
    error.is_some_and(|error| match backend {
        DbBackend::Sqlite => {
            sqlite_code(error).is_some_and(|code| matches!(code & 0xff, NO_MEMORY | IO | FULL))
        }
        DbBackend::MySql if matches!(mysql_number(error), Some(1290 | 1836)) => true,
        _ => error.code().as_deref() == Some("25006"),
    })
}

/// The SQLSTATE of a failed statement, or what the driver has in its place.
pub(crate) fn state(error: &DbErr) -> Option<String> {
    let error = driver_error(error)?;
    error.as_database_error()?.code().map(Into::into)
}

fn driver_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        // A statement reports as Query with RETURNING and as Exec without.
        DbErr::Conn(RuntimeErr::SqlxError(source))
        | DbErr::Exec(RuntimeErr::SqlxError(source))
        | DbErr::Query(RuntimeErr::SqlxError(source)) => Some(source),
        _ => None,
    }
}

/// SQLite's codes are shorter than a SQLSTATE, and MySQL's driver writes its number before that.
fn backend_of(error: &DbErr) -> Option<DbBackend> {
    let error = driver_error(error)?.as_database_error()?;
    let code = error.code()?;
    let numbered = |text: String| {
        let number = text.strip_suffix(&format!(" ({code})"))?.parse::<u32>();
        number.ok()
    };
    let head = error.to_string();
    let head = head.split(':').next().unwrap_or_default().to_owned();
    Some(if code.len() < 5 {
        DbBackend::Sqlite
    } else if numbered(head).is_some() {
        DbBackend::MySql
    } else {
        DbBackend::Postgres
    })
}

fn of_driver(backend: DbBackend, error: &sqlx::Error) -> Meaning {
    match error {
        sqlx::Error::Database(error) => match backend {
            DbBackend::Sqlite => sqlite(&**error),
            DbBackend::MySql => mysql(&**error),
            _ => by_state(&**error),
        },
        sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::TypeNotFound { .. } => Meaning::Missing,
        sqlx::Error::Encode(_) => Meaning::Refused,
        _ => Meaning::Unavailable,
    }
}

fn sqlite(error: &dyn DatabaseError) -> Meaning {
    sqlite_code(error).map_or(Meaning::Unavailable, |code| {
        by_sqlite_code(code, error.message())
    })
}

fn sqlite_code(error: &dyn DatabaseError) -> Option<u32> {
    error.code()?.parse().ok()
}

/// The upper bytes of a code say which kind of the error it is (a stale snapshot, a unique index).
fn by_sqlite_code(code: u32, message: &str) -> Meaning {
    const ERROR: u32 = 1;
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const SCHEMA: u32 = 17;
    const TOO_BIG: u32 = 18;
    const CONSTRAINT: u32 = 19;
    const MISMATCH: u32 = 20;
    const RANGE: u32 = 25;
    match code & 0xff {
        BUSY | LOCKED | SCHEMA => Meaning::Contention,
        // SQLite has one code for all that is wrong with a statement, and does not translate.
        ERROR if is_missing(message) => Meaning::Missing,
        ERROR | TOO_BIG | CONSTRAINT | MISMATCH | RANGE => Meaning::Refused,
        _ => Meaning::Unavailable,
    }
}

fn is_missing(message: &str) -> bool {
    ["no such table", "no such column", "no such index"]
        .iter()
        .any(|text| message.starts_with(text))
        || message.contains("has no column named")
}

fn mysql(error: &dyn DatabaseError) -> Meaning {
    mysql_number(error)
        .and_then(by_mysql_number)
        .unwrap_or_else(|| by_state(error))
}

/// The number stands first in the text; the code is the SQLSTATE, the same for many errors.
fn mysql_number(error: &dyn DatabaseError) -> Option<u32> {
    let text = error.to_string();
    text.split(' ').next()?.parse().ok()
}

/// The errors whose SQLSTATE says nothing (`HY000`) or something else.
fn by_mysql_number(number: u32) -> Option<Meaning> {
    Some(match number {
        // Changed since it was read (MariaDB), lock wait timeout, deadlock, locked with NOWAIT.
        1020 | 1205 | 1213 | 3572 => Meaning::Contention,
        // Database, column or table, and a column without a default that this version does not know.
        1049 | 1054 | 1146 | 1364 => Meaning::Missing,
        // NULL, a duplicate, a packet, a number, a text or a time that does not fit, a CHECK.
        1048 | 1062 | 1153 | 1264 | 1265 | 1292 | 1366 | 1406 | 1690 | 3819 | 4025 => {
            Meaning::Refused
        }
        // The disk or the table is full, too many connections, read-only (also for a transaction).
        1021 | 1040 | 1114 | 1290 | 1792 | 1836 => Meaning::Unavailable,
        _ => return None,
    })
}

fn by_state(error: &dyn DatabaseError) -> Meaning {
    match error.code().as_deref() {
        // Serialization failure, deadlock, lock not available.
        Some("40001" | "40P01" | "55P03") => Meaning::Contention,
        // Undefined table, column, function, schema, database.
        Some("42P01" | "42703" | "42883" | "3F000" | "3D000" | "42S02" | "42S22") => {
            Meaning::Missing
        }
        // Data exceptions and integrity constraints.
        Some(state) if state.starts_with("22") || state.starts_with("23") => Meaning::Refused,
        _ => Meaning::Unavailable,
    }
}

#[cfg(test)]
mod tests;
