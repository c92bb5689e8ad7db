use crate::error::BoxError;
use std::{error, fmt};

/// A store's verb failed.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    context: &'static str,
    source: Option<BoxError>,
}

/// What to do about a store's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Two transactions met (deadlock, serialization failure, database locked): try again at once.
    Contention,
    /// The database cannot be reached, is starting, read-only or full: try again later.
    Unavailable,
    /// Tables are missing or differ from what this version expects.
    Schema,
    /// The database refused the data; trying the same again will not help.
    Refused,
}

impl StoreError {
    /// An error while doing `context` (lower case: "settling").
    pub fn new(kind: StoreErrorKind, context: &'static str, source: impl Into<BoxError>) -> Self {
        Self {
            kind,
            context,
            source: Some(source.into()),
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.kind {
            StoreErrorKind::Contention => "another transaction was in the way",
            StoreErrorKind::Unavailable => "the database is not available",
            StoreErrorKind::Schema => {
                "the outbox tables are not as expected, run the migrations or `schema::create`"
            }
            StoreErrorKind::Refused => "the database refused the data",
        };
        write!(f, "{}: {problem}", self.context)
    }
}

impl error::Error for StoreError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
