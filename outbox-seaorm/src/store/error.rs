use crate::{
    db_error::{Meaning, meaning},
    schema::{SchemaError, SchemaErrorKind},
};
use outbox_core::store::{StoreError, StoreErrorKind as Kind};
use sea_orm::{DbBackend, DbErr};

/// The database's error, while doing `context`, as the dispatcher understands it.
pub(crate) fn store_error(backend: DbBackend, context: &'static str, error: DbErr) -> StoreError {
    StoreError::new(kind(backend, &error), context, error)
}

/// Tables that are not as expected, with every problem named; or the database's own error.
pub(super) fn schema_error(
    backend: DbBackend,
    context: &'static str,
    error: SchemaError,
) -> StoreError {
    match error.kind() {
        SchemaErrorKind::Database => store_error(backend, context, error.into()),
        _ => StoreError::new(Kind::Schema, context, error),
    }
}

fn kind(backend: DbBackend, error: &DbErr) -> Kind {
    match meaning(backend, error) {
        Meaning::Missing => Kind::Schema,
        Meaning::Contention => Kind::Contention,
        Meaning::Refused => Kind::Refused,
        Meaning::Unavailable => Kind::Unavailable,
    }
}
