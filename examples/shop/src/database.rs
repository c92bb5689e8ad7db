//! Opens the database.

use crate::migrations::Migrator;
use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DbErr, TryInsertResult,
    sqlx::sqlite::SqliteJournalMode,
};
use sea_orm_migration::MigratorTrait;

/// Opens the database and brings its tables up to date.
///
/// # Errors
/// When it cannot be reached, or a migration fails.
pub async fn open(url: &str) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(8)
        .sqlx_logging(false)
        // Readers and the one writer do not wait for each other.
        .map_sqlx_sqlite_opts(|sqlite| sqlite.journal_mode(SqliteJournalMode::Wal));
    let db = Database::connect(options).await?;
    Migrator::up(&db, None).await?;
    Ok(db)
}

/// Whether an insert that does nothing on a conflict has inserted its row. Without RETURNING,
/// SeaORM reports a conflict as zero rows inserted.
#[must_use]
pub fn is_new(inserted: &TryInsertResult<u64>) -> bool {
    matches!(inserted, TryInsertResult::Inserted(rows) if *rows > 0)
}
