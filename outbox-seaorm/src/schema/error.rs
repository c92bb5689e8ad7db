use sea_orm::{DbBackend, DbErr};
use std::{error, fmt};

/// Why the tables could not be made or checked, or that they are not as they should be.
#[derive(Debug)]
pub struct SchemaError(Cause);

/// The kinds of [`SchemaError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// There is no outbox for this database yet.
    UnsupportedDatabase,
    /// The server, or SQLite's library, is older than the outbox needs: the message has both versions.
    ServerTooOld,
    /// The sessions are set up in a way in which no dispatcher works: the message has what is needed.
    SessionSettings,
    /// Tables, columns, indexes or views are missing or differ; see [`SchemaError::problems`].
    Incomplete,
    /// The database failed.
    Database,
}

/// Something that is not in the database as it should be. Names are those of the database, with
/// the prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A table is missing.
    MissingTable(String),
    /// A view is missing.
    MissingView(String),
    /// An index is missing.
    MissingIndex(String),
    /// A table or view lacks a column.
    MissingColumn {
        /// The table or view.
        table: String,
        /// The column.
        column: String,
    },
    /// A column has another type.
    ColumnType {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The type it should have.
        expected: String,
        /// The type it has.
        found: String,
    },
    /// Rows that the dispatchers share among them are missing: without them nothing is delivered.
    MissingShards {
        /// The table.
        table: String,
        /// How many rows it should have.
        expected: i64,
        /// How many it has.
        found: i64,
    },
    /// An index is over other columns.
    IndexColumns {
        /// The index.
        index: String,
        /// The columns it should have.
        expected: Vec<String>,
        /// The columns it has.
        found: Vec<String>,
    },
}

#[derive(Debug)]
enum Cause {
    Unsupported(DbBackend),
    TooOld {
        needed: &'static str,
        found: String,
    },
    Session {
        needed: &'static str,
        found: &'static str,
    },
    Incomplete(Vec<Problem>),
    Database(DbErr),
}

impl SchemaError {
    pub(super) fn unsupported(backend: DbBackend) -> Self {
        Self(Cause::Unsupported(backend))
    }

    pub(super) fn too_old(needed: &'static str, found: String) -> Self {
        Self(Cause::TooOld { needed, found })
    }

    pub(super) fn session(needed: &'static str, found: &'static str) -> Self {
        Self(Cause::Session { needed, found })
    }

    pub(super) fn incomplete(problems: Vec<Problem>) -> Self {
        Self(Cause::Incomplete(problems))
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> SchemaErrorKind {
        match self.0 {
            Cause::Unsupported(_) => SchemaErrorKind::UnsupportedDatabase,
            Cause::TooOld { .. } => SchemaErrorKind::ServerTooOld,
            Cause::Session { .. } => SchemaErrorKind::SessionSettings,
            Cause::Incomplete(_) => SchemaErrorKind::Incomplete,
            Cause::Database(_) => SchemaErrorKind::Database,
        }
    }

    /// Everything that is missing or differs.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match &self.0 {
            Cause::Incomplete(problems) => problems,
            Cause::Unsupported(_)
            | Cause::TooOld { .. }
            | Cause::Session { .. }
            | Cause::Database(_) => &[],
        }
    }
}

impl From<DbErr> for SchemaError {
    fn from(source: DbErr) -> Self {
        Self(Cause::Database(source))
    }
}

impl From<SchemaError> for DbErr {
    fn from(error: SchemaError) -> Self {
        match error.0 {
            Cause::Database(source) => source,
            _ => Self::Migration(error.to_string()),
        }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Unsupported(backend) => {
                write!(f, "the outbox does not support {backend:?} yet")
            }
            Cause::TooOld { needed, found } => {
                write!(f, "the outbox needs {needed} or later, and this is {found}")
            }
            Cause::Session { needed, found } => write!(
                f,
                "the outbox needs sessions with {needed}, and these have {found}"
            ),
            Cause::Incomplete(problems) => {
                f.write_str("the outbox schema is not up to date, run the migrations: ")?;
                for (index, problem) in problems.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}{problem}")?;
                }
                Ok(())
            }
            Cause::Database(_) => f.write_str("the outbox schema could not be read or made"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingTable(table) => write!(f, "table {table} is missing"),
            Self::MissingView(view) => write!(f, "view {view} is missing"),
            Self::MissingIndex(index) => write!(f, "index {index} is missing"),
            Self::MissingColumn { table, column } => {
                write!(f, "column {table}.{column} is missing")
            }
            Self::ColumnType {
                table,
                column,
                expected,
                found,
            } => write!(
                f,
                "column {table}.{column} is {found} instead of {expected}"
            ),
            Self::MissingShards {
                table,
                expected,
                found,
            } => write!(
                f,
                "table {table} has {found} of its {expected} rows (was it emptied?)"
            ),
            Self::IndexColumns {
                index,
                expected,
                found,
            } => write!(f, "index {index} is over {found:?} instead of {expected:?}"),
        }
    }
}

impl error::Error for SchemaError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0 {
            Cause::Database(source) => Some(source),
            _ => None,
        }
    }
}
