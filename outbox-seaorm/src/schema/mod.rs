//! The tables: their names, their DDL, and whether a database has them.
//!
//! Applications run the migrations of the crate `outbox-migrations`, or the statements of [`sql`]
//! with a tool of their own. [`create`] is for tests and first steps.

mod names;
mod error;
mod ddl;
mod version;
mod create;
mod check;
pub(crate) mod postgres;
mod sqlite;
mod mysql;
#[cfg(feature = "testing")]
mod instants;

pub use check::{check, check_with};
pub use create::{create, create_with};
pub use ddl::{drop_sql, sql};
pub use error::{Problem, SchemaError, SchemaErrorKind};
#[cfg(feature = "testing")]
pub(crate) use instants::instants;
pub use names::{InvalidName, Names};
