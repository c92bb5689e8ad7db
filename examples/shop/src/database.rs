//! Opens the database and begins transactions.

use crate::migrations::Migrator;
use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, DbErr, RuntimeErr,
    SqliteTransactionMode, TransactionOptions, TransactionTrait, TryInsertResult,
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

/// Begins a transaction that will write. On SQLite it waits for the other writers here, and not
/// with half of its work done; servers have no such mode.
///
/// # Errors
/// When the database cannot be reached, or is busy for too long.
pub async fn begin(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    db.begin_with_options(options).await
}

/// Whether another transaction was in the way: the same one may succeed when it is run again.
#[must_use]
pub fn is_contention(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(source))
    | DbErr::Exec(RuntimeErr::SqlxError(source))
    | DbErr::Query(RuntimeErr::SqlxError(source))) = error
    else {
        return false;
    };
    let code = source.as_database_error().and_then(|error| error.code());
    // SQLite: busy, and busy with a newer snapshot. Servers: serialization failure, deadlock.
    matches!(code.as_deref(), Some("5" | "517" | "40001" | "40P01"))
}

/// Whether an insert that does nothing on a conflict has inserted its row. Without RETURNING,
/// SeaORM reports a conflict as zero rows inserted.
#[must_use]
pub fn is_new(inserted: &TryInsertResult<u64>) -> bool {
    matches!(inserted, TryInsertResult::Inserted(rows) if *rows > 0)
}
