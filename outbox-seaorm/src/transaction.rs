//! What a transaction that emits needs beside SeaORM's own methods.

use crate::db_error;
use sea_orm::{DbErr, SqliteTransactionMode, TransactionOptions, TransactionTrait};
use std::panic::resume_unwind;
use tracing::Instrument;

/// Begins a transaction that is going to write.
///
/// On SQLite it is `BEGIN IMMEDIATE`: it waits for its turn. A deferred transaction, which SeaORM's
/// `begin` makes there, is refused without waiting when it has read and another writer (a
/// dispatcher is one) came before its first write.
///
/// Elsewhere this is `begin`, but for one thing: it may be dropped at any moment, by a time limit, a
/// `select!` or the end of a request. A `begin` of SeaORM that is dropped while the server answers
/// leaves a connection of PostgreSQL or MySQL in a transaction that nobody knows of, and whoever gets
/// it next works in there and commits nothing
/// ([sqlx#4393](https://github.com/transact-rs/sqlx/issues/4393), in 0.9.0).
///
/// ```
/// use outbox_seaorm::begin_immediate;
/// use sea_orm::Database;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), sea_orm::DbErr> {
/// let db = Database::connect("sqlite::memory:").await?;
/// let txn = begin_immediate(&db).await?;
/// // … read, change, emit …
/// txn.commit().await
/// # }
/// ```
///
/// # Errors
///
/// The database's, as `begin` has them; on SQLite also that it was busy for longer than the busy
/// timeout (five seconds), for which [`is_contention`] is true.
///
/// # Panics
///
/// Outside a tokio runtime.
///
/// # Cancel safety
///
/// It begins in a task of its own: when this future is dropped, the transaction is rolled back once
/// it has begun.
pub async fn begin_immediate<C>(db: &C) -> Result<C::Transaction, DbErr>
where
    C: TransactionTrait + Clone + Send + 'static,
    C::Transaction: 'static,
{
    let db = db.clone();
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    let begin = async move { db.begin_with_options(options).await };
    match tokio::spawn(begin.in_current_span()).await {
        Ok(begun) => begun,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        Err(error) => Err(DbErr::Custom(error.to_string())),
    }
}

/// Whether another transaction was in the way: a busy database, a deadlock, a serialization
/// failure, a lock that could not be had in time. The transaction is lost, and may succeed when all
/// of it is run again, from `begin` on.
///
/// ```
/// use outbox_seaorm::{begin_immediate, is_contention};
/// use sea_orm::{DatabaseConnection, DbErr};
///
/// # async fn place_order(_: &sea_orm::DatabaseTransaction) -> Result<(), DbErr> { Ok(()) }
/// async fn place(db: &DatabaseConnection) -> Result<(), DbErr> {
///     let mut tries = 0;
///     loop {
///         tries += 1;
///         let txn = begin_immediate(db).await?;
///         let placed = match place_order(&txn).await {
///             Ok(()) => txn.commit().await, // which may fail as well
///             Err(error) => Err(error),     // dropped, the transaction is rolled back
///         };
///         match placed {
///             Err(error) if is_contention(&error) && tries < 5 => {}
///             done => return done,
///         }
///     }
/// }
/// ```
#[must_use]
pub fn is_contention(error: &DbErr) -> bool {
    db_error::is_contention(error)
}
