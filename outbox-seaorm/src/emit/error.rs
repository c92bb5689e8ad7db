use crate::db_error::{self, Meaning};
use outbox_core::{InvalidEvent, InvalidEventKind};
use sea_orm::{DbBackend, DbErr};
use std::{error, fmt};

/// Why an event was not emitted.
///
/// With `?` it becomes a [`DbErr`] where a function returns one; the driver's error is kept.
#[derive(Debug)]
pub struct EmitError {
    cause: Cause,
    /// Which event of an `emit_all`, counted from 0.
    index: Option<usize>,
}

/// The kinds of [`EmitError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitErrorKind {
    /// The event itself: nothing was sent to the database and the transaction stays usable.
    Invalid(InvalidEventKind),
    /// `emit_checked` was called on an executor outside a transaction; nothing was sent.
    NotInTransaction,
    /// The outbox's tables are missing or lack a column: run the migrations.
    NotMigrated,
    /// Another transaction was in the way (busy, deadlock, serialization failure): roll back and
    /// run the whole transaction again.
    Contention,
    /// Any other database error: roll back.
    Database,
}

#[derive(Debug)]
enum Cause {
    Invalid(InvalidEvent),
    NotInTransaction,
    Database(Meaning, DbErr),
}

impl EmitError {
    pub(super) fn invalid(index: Option<usize>, source: InvalidEvent) -> Self {
        Self {
            cause: Cause::Invalid(source),
            index,
        }
    }

    pub(super) fn not_in_transaction() -> Self {
        Self {
            cause: Cause::NotInTransaction,
            index: None,
        }
    }

    pub(super) fn database(backend: DbBackend, source: DbErr) -> Self {
        Self {
            cause: Cause::Database(db_error::meaning(backend, &source), source),
            index: None,
        }
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> EmitErrorKind {
        match &self.cause {
            Cause::Invalid(source) => EmitErrorKind::Invalid(source.kind()),
            Cause::NotInTransaction => EmitErrorKind::NotInTransaction,
            Cause::Database(Meaning::Missing, _) => EmitErrorKind::NotMigrated,
            Cause::Database(Meaning::Contention, _) => EmitErrorKind::Contention,
            Cause::Database(Meaning::Refused | Meaning::Unavailable, _) => EmitErrorKind::Database,
        }
    }

    /// Which event of an `emit_all` is invalid, counted from 0.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        self.index
    }
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, self.index) {
            (Cause::Invalid(invalid), None) => write!(f, "event not emitted: {invalid}"),
            (Cause::Invalid(invalid), Some(index)) => {
                write!(
                    f,
                    "no event emitted, see the one at index {index}: {invalid}"
                )
            }
            (Cause::NotInTransaction, _) => f.write_str(
                "event not emitted: the executor is a plain connection, begin a transaction first",
            ),
            (Cause::Database(Meaning::Missing, _), _) => f.write_str(
                "event not emitted: the outbox tables are missing or outdated, run the migrations \
                 (crate outbox-migrations) or `schema::create`",
            ),
            (Cause::Database(Meaning::Contention, _), _) => f.write_str(
                "event not emitted: another transaction was in the way, roll back and run the \
                 transaction again",
            ),
            (Cause::Database(Meaning::Refused | Meaning::Unavailable, _), _) => {
                f.write_str("event not emitted: the database failed, roll back the transaction")
            }
        }
    }
}

impl error::Error for EmitError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.cause {
            // What is invalid stands in the text.
            Cause::Invalid(invalid) => invalid.source(),
            Cause::NotInTransaction => None,
            Cause::Database(_, source) => Some(source),
        }
    }
}

impl From<EmitError> for DbErr {
    fn from(error: EmitError) -> Self {
        match error.cause {
            Cause::Database(_, source) => source,
            // A DbErr carries text only: everything that is known goes into it.
            Cause::Invalid(ref source) => {
                let mut text = error.to_string();
                let mut next = error::Error::source(source);
                while let Some(source) = next {
                    text = format!("{text}: {source}");
                    next = source.source();
                }
                Self::Custom(text)
            }
            Cause::NotInTransaction => Self::Custom(error.to_string()),
        }
    }
}
