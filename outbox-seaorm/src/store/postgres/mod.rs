//! The store in PostgreSQL: 64 shards, one statement a verb.

mod statements;
mod member;
mod shard;
mod row;
mod fetch;
mod settle;
mod claim;
mod delayed;
mod echo;
mod listen;
#[cfg(test)]
mod plans;

use super::apart;
use crate::schema::Names;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel,
    QueryResult, Statement, TransactionTrait, Value,
};
use statements::Statements;
use std::{num::NonZeroUsize, time::Duration};
use tokio::sync::OnceCell;

/// So many settles are under way at once at most.
pub(super) const SETTLES_AT_ONCE: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// The statements, and what is known of the database.
#[derive(Debug)]
pub(super) struct Postgres {
    sql: Statements,
    /// Whether sessions run READ COMMITTED by themselves. Asked for at first need, then kept.
    read_committed: OnceCell<bool>,
}

impl Postgres {
    pub(super) fn new(names: &Names) -> Self {
        Self {
            sql: Statements::new(names),
            read_committed: OnceCell::new(),
        }
    }

    pub(in crate::store) async fn in_process(
        &self,
        _db: &DatabaseConnection,
    ) -> Result<bool, DbErr> {
        Ok(false)
    }

    pub(in crate::store) async fn connect_apart(
        &self,
        db: &DatabaseConnection,
    ) -> Result<DatabaseConnection, DbErr> {
        apart::postgres(db).await
    }

    /// Runs a verb's statement, in READ COMMITTED whatever the session's default is. Under
    /// SERIALIZABLE our reads would cancel transactions of the application, and a lock that is
    /// waited for would end in an error instead of showing the newest row.
    async fn query(
        &self,
        db: &DatabaseConnection,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
        if self.is_read_committed(db).await? {
            return db.query_all_raw(statement).await;
        }
        let txn = begin(db).await?;
        let rows = txn.query_all_raw(statement).await?;
        txn.commit().await?;
        Ok(rows)
    }

    /// Runs a verb's statement, as [`query`](Self::query); returns how many rows it changed.
    async fn execute(
        &self,
        db: &DatabaseConnection,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<u64, DbErr> {
        let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
        if self.is_read_committed(db).await? {
            return Ok(db.execute_raw(statement).await?.rows_affected());
        }
        let txn = begin(db).await?;
        let changed = txn.execute_raw(statement).await?.rows_affected();
        txn.commit().await?;
        Ok(changed)
    }

    async fn is_read_committed(&self, db: &DatabaseConnection) -> Result<bool, DbErr> {
        let ask = async || {
            let sql = "SELECT current_setting('transaction_isolation') = 'read committed' AS yes";
            let statement = Statement::from_string(DbBackend::Postgres, sql);
            let row = db.query_one_raw(statement).await?;
            row.map_or(Ok(false), |row| row.try_get("", "yes"))
        };
        self.read_committed.get_or_try_init(ask).await.copied()
    }
}

/// One that the server ends when its client is cut off in it.
async fn begin(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let isolation = Some(IsolationLevel::ReadCommitted);
    let txn = db.begin_with_config(isolation, None).await?;
    let silence = "SET LOCAL idle_in_transaction_session_timeout = '10s'";
    txn.execute_unprepared(silence).await?;
    Ok(txn)
}

fn statement<const N: usize>(sql: &str, values: [Value; N]) -> Statement {
    Statement::from_sql_and_values(DbBackend::Postgres, sql, values)
}

/// Microseconds to be added to the database's clock, at most 100 years: its times end somewhere.
fn micros(duration: Duration) -> i64 {
    const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
    i64::try_from(duration.min(LONGEST).as_micros()).unwrap_or(i64::MAX)
}

/// The time until an instant, which may have passed.
fn wait(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}
