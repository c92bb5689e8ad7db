use super::{SchemaError, check_with, postgres, sql, version};
use crate::outbox::Outbox;
use sea_orm::{ConnectionTrait, DbBackend};

/// Makes the tables of the default [`Outbox`] where they are missing: for tests and first steps.
///
/// Nothing that exists is changed. Applications run the migrations instead.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use outbox_seaorm::schema;
///
/// let db = sea_orm::Database::connect("sqlite::memory:").await?;
/// schema::create(&db).await?;
/// schema::check(&db).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the database is not supported yet, is [too old](super::SchemaErrorKind::ServerTooOld), has
/// [sessions](super::SchemaErrorKind::SessionSettings) in which no dispatcher works, or fails.
///
/// # Cancel safety
/// Some tables may exist then; call it again.
pub async fn create<C: ConnectionTrait>(db: &C) -> Result<(), SchemaError> {
    create_with(&Outbox::default(), db).await
}

/// Makes the tables of an [`Outbox`] with settings of its own; see [`create`].
///
/// # Errors
/// As [`create`].
pub async fn create_with<C: ConnectionTrait>(outbox: &Outbox, db: &C) -> Result<(), SchemaError> {
    let backend = db.get_database_backend();
    let statements = sql(backend, outbox)?;
    // Before anything is made: MySQL would keep what it made until a statement fails.
    version::check(db).await?;
    if backend == DbBackend::Postgres {
        // To say IF NOT EXISTS, an index locks out writers first.
        if check_with(outbox, db).await.is_ok() && postgres::wakes(db, outbox).await? {
            return Ok(());
        }
        return postgres::create(db, &statements).await;
    }
    for statement in statements {
        db.execute_unprepared(&statement).await?;
    }
    Ok(())
}
