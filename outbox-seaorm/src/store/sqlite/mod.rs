//! The store in SQLite: one shard, one writer at a time, `BEGIN IMMEDIATE` for every transaction.

mod statements;
mod place;
mod member;
mod shard;
mod row;
mod fetch;
mod settle;
mod claim;
mod delayed;
#[cfg(test)]
mod plans;

use super::live::Joined;
use crate::schema::Names;
use outbox_core::store::{MemberId, Owned, Position, Shard};
use place::Place;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait, Value,
};
use statements::Statements;
use std::time::Duration;
use tokio::sync::OnceCell;
use uuid::Uuid;

/// The only shard.
const SHARD: Shard = 0;

/// The statements, and what is known of the database.
#[derive(Debug)]
pub(super) struct Sqlite {
    sql: Statements,
    /// The schema of the tables, where they are in an attached database.
    schema: Option<String>,
    /// Asked for at first need, then kept: a connection does not move.
    place: OnceCell<Place>,
    /// Keeps a database in memory.
    memory: OnceCell<DatabaseConnection>,
    /// Ends with the store: the members of an aborted dispatcher are gone then.
    joined: Joined,
}

impl Sqlite {
    pub(super) fn new(names: &Names) -> Self {
        Self {
            sql: Statements::new(names),
            schema: names.schema().map(str::to_owned),
            place: OnceCell::new(),
            memory: OnceCell::new(),
            joined: Joined::default(),
        }
    }

    /// Whether the member owns the shard; the time of the transaction if it does.
    async fn fence(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        owned: &Owned,
    ) -> Result<Option<String>, DbErr> {
        let values = [member.into(), owned.shard.into(), owned.epoch.into()];
        let row = txn
            .query_one_raw(statement(&self.sql.fence, values))
            .await?;
        row.map(|row| row.try_get("", "now")).transpose()
    }
}

fn statement<const N: usize>(sql: &str, values: [Value; N]) -> Statement {
    Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)
}

/// Positions as one parameter, so that a statement's text is the same for any number of them; then
/// the first and the last of them.
fn listed(positions: &[Position]) -> [Value; 3] {
    let list = serde_json::Value::from(positions).to_string();
    let first = positions.iter().min().copied();
    let last = positions.iter().max().copied();
    [list.into(), first.into(), last.into()]
}

/// An id as the statements spell it.
fn hex(id: Uuid) -> String {
    format!("{:X}", id.simple())
}

/// Takes the write lock at once: a transaction that reads first is refused without waiting when it
/// wants to write later.
async fn begin(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    db.begin_with_options(TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    })
    .await
}

/// Seconds to be added to the database's clock, at most 100 years: beyond the year 9999 SQLite's
/// functions give NULL.
fn seconds(duration: Duration) -> f64 {
    const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
    duration.min(LONGEST).as_secs_f64()
}

/// The time until an instant, which may have passed. SQLite counts milliseconds, and what lies
/// behind them is the error of its day numbers.
fn wait(seconds: f64) -> Duration {
    let seconds = (seconds.max(0.0) * 1000.0).round() / 1000.0;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
