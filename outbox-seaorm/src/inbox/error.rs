use crate::db_error::{self, Meaning};
use sea_orm::{DbBackend, DbErr};
use std::{error, fmt};

/// Why an inbox could not tell or remember what was received.
#[derive(Debug)]
pub struct InboxError(Cause);

/// The kinds of [`InboxError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InboxErrorKind {
    /// The consumer's name cannot be part of a key on every database.
    InvalidConsumer,
    /// Somebody has begun the message by [`begin`](super::Inbox::begin) and is at it: let it come
    /// again later.
    InProgress,
    /// The table is missing or lacks a column: run the migrations.
    NotMigrated,
    /// Another transaction was in the way (busy, deadlock, serialization failure): let the message
    /// come again.
    Contention,
    /// Any other database error.
    Database,
}

#[derive(Debug)]
enum Cause {
    InvalidConsumer(&'static str),
    InProgress,
    Database(Meaning, DbErr),
}

impl InboxError {
    pub(super) const fn invalid_consumer(why: &'static str) -> Self {
        Self(Cause::InvalidConsumer(why))
    }

    pub(super) const fn in_progress() -> Self {
        Self(Cause::InProgress)
    }

    pub(super) fn database(backend: DbBackend, source: DbErr) -> Self {
        Self(Cause::Database(db_error::meaning(backend, &source), source))
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> InboxErrorKind {
        match &self.0 {
            Cause::InvalidConsumer(_) => InboxErrorKind::InvalidConsumer,
            Cause::InProgress => InboxErrorKind::InProgress,
            Cause::Database(Meaning::Missing, _) => InboxErrorKind::NotMigrated,
            Cause::Database(Meaning::Contention, _) => InboxErrorKind::Contention,
            Cause::Database(Meaning::Refused | Meaning::Unavailable, _) => InboxErrorKind::Database,
        }
    }
}

impl fmt::Display for InboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::InvalidConsumer(why) => write!(f, "the consumer's name {why}"),
            Cause::InProgress => f.write_str("the message is being worked on"),
            Cause::Database(Meaning::Missing, _) => f.write_str(
                "the inbox is missing or outdated, run the migrations (crate outbox-migrations) or \
                 `schema::create`",
            ),
            Cause::Database(Meaning::Contention, _) => {
                f.write_str("another transaction was in the inbox's way")
            }
            Cause::Database(Meaning::Refused | Meaning::Unavailable, _) => {
                f.write_str("the inbox's database failed")
            }
        }
    }
}

impl error::Error for InboxError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0 {
            Cause::InvalidConsumer(_) | Cause::InProgress => None,
            Cause::Database(_, source) => Some(source),
        }
    }
}

impl From<InboxError> for DbErr {
    fn from(error: InboxError) -> Self {
        match error.0 {
            Cause::Database(_, source) => source,
            _ => Self::Custom(error.to_string()),
        }
    }
}
