use outbox_core::store::{StoreError, StoreErrorKind as Kind};
use sea_orm::{DbErr, RuntimeErr, sqlx};

/// The database's error, while doing `context`, as the dispatcher understands it.
pub(super) fn store_error(context: &'static str, error: DbErr) -> StoreError {
    StoreError::new(kind(&error), context, error)
}

/// What is not known counts as an outage: the dispatcher waits, and no event is given up for it.
fn kind(error: &DbErr) -> Kind {
    match error {
        DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error)) => {
            driver_kind(error)
        }
        DbErr::BackendNotSupported { .. } | DbErr::Type(_) | DbErr::TryIntoErr { .. } => {
            Kind::Schema
        }
        _ => Kind::Unavailable,
    }
}

fn driver_kind(error: &sqlx::Error) -> Kind {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code().and_then(|code| code.parse().ok());
            code.map_or(Kind::Unavailable, |code| sqlite_kind(code, error.message()))
        }
        sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::TypeNotFound { .. } => Kind::Schema,
        sqlx::Error::Encode(_) => Kind::Refused,
        _ => Kind::Unavailable,
    }
}

/// The kind of a SQLite result code; the low byte is the primary code.
fn sqlite_kind(code: u32, message: &str) -> Kind {
    const ERROR: u32 = 1;
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const SCHEMA: u32 = 17;
    const TOO_BIG: u32 = 18;
    const CONSTRAINT: u32 = 19;
    const MISMATCH: u32 = 20;
    const RANGE: u32 = 25;
    match code & 0xff {
        BUSY | LOCKED | SCHEMA => Kind::Contention,
        TOO_BIG | CONSTRAINT | MISMATCH | RANGE => Kind::Refused,
        // Code 1 is all that is wrong with a statement; only the text says that a table is.
        ERROR
            if ["no such table", "no such column", "has no column"]
                .iter()
                .any(|text| message.contains(text)) =>
        {
            Kind::Schema
        }
        ERROR => Kind::Refused,
        _ => Kind::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, sqlite_kind};

    #[test]
    fn extended_codes_count_as_their_primary_code() {
        assert_eq!(sqlite_kind(517, "database is locked"), Kind::Contention);
        assert_eq!(sqlite_kind(1555, "UNIQUE constraint failed"), Kind::Refused);
        assert_eq!(sqlite_kind(1032, "readonly database"), Kind::Unavailable);
    }

    #[test]
    fn a_missing_table_is_told_from_other_bad_statements() {
        assert_eq!(sqlite_kind(1, "no such table: outbox_event"), Kind::Schema);
        assert_eq!(sqlite_kind(1, "malformed JSON"), Kind::Refused);
    }
}
