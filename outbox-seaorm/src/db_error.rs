//! What a database error means, by its code: messages are translated on some servers.

use sea_orm::{
    DbBackend, DbErr, RuntimeErr,
    sqlx::{self, error::DatabaseError},
};

/// What a failed statement says about the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A table or column is not there.
    Missing,
    /// Another transaction was in the way: the same transaction may succeed when run again.
    Contention,
    /// Anything else.
    Other,
}

pub(crate) fn meaning(backend: DbBackend, error: &DbErr) -> Meaning {
    let Some(error) = driver_error(error) else {
        return Meaning::Other;
    };
    match backend {
        DbBackend::Sqlite => sqlite(error),
        DbBackend::MySql => mysql(error),
        _ => by_state(error),
    }
}

fn driver_error(error: &DbErr) -> Option<&dyn DatabaseError> {
    // A statement reports as Query with RETURNING and as Exec without.
    let (DbErr::Conn(runtime) | DbErr::Exec(runtime) | DbErr::Query(runtime)) = error else {
        return None;
    };
    match runtime {
        RuntimeErr::SqlxError(source) => match &**source {
            sqlx::Error::Database(error) => Some(&**error),
            _ => None,
        },
        _ => None,
    }
}

fn sqlite(error: &dyn DatabaseError) -> Meaning {
    const ERROR: u32 = 1;
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    let code = error.code().and_then(|code| code.parse::<u32>().ok());
    // The upper bytes say which kind of BUSY (a stale snapshot, a recovery, …).
    match code.map(|code| code & 0xff) {
        Some(BUSY | LOCKED) => Meaning::Contention,
        // SQLite has one code for both and does not translate.
        Some(ERROR) if is_missing(error.message()) => Meaning::Missing,
        _ => Meaning::Other,
    }
}

fn is_missing(message: &str) -> bool {
    message.starts_with("no such table") || message.contains("has no column named")
}

fn mysql(error: &dyn DatabaseError) -> Meaning {
    // The number stands first in the text; the code is the SQLSTATE, the same for many errors.
    let text = error.to_string();
    let number = text
        .split(' ')
        .next()
        .and_then(|number| number.parse::<u32>().ok());
    match number {
        Some(1205 | 1213) => Meaning::Contention,
        Some(1049 | 1054 | 1146) => Meaning::Missing,
        _ => by_state(error),
    }
}

fn by_state(error: &dyn DatabaseError) -> Meaning {
    match error.code().as_deref() {
        // Serialization failure, deadlock, lock not available.
        Some("40001" | "40P01" | "55P03") => Meaning::Contention,
        // Undefined table, column, schema.
        Some("42P01" | "42703" | "3F000" | "42S02" | "42S22") => Meaning::Missing,
        _ => Meaning::Other,
    }
}
