//! The store in MySQL and MariaDB: plain reads, and short transactions in READ COMMITTED that lock
//! rows by primary key only.
//!
//! Lists are one JSON parameter, joined by `JSON_TABLE … STRAIGHT_JOIN`: a statement's text is the
//! same for any length, and rows are found and locked one by one in the order of the list. The index
//! is forced: of a table that was small when it was analysed, the optimizer would rather read, and
//! lock, all.
//!
//! The dispatcher must talk to the primary: a replica shows again what is settled. READ COMMITTED
//! wants `binlog_format` ROW or MIXED, which are the defaults.

mod statements;
mod sessions;
mod member;
mod shard;
mod row;
mod ranges;
mod fetch;
mod settle;
mod claim;
mod delayed;
#[cfg(test)]
mod tests;

use crate::schema::Names;
use outbox_core::store::{MemberId, Owned, Shard};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, QueryResult,
    Statement, Value,
};
use sessions::Sessions;
use statements::Statements;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::OnceCell;

/// The statements, and what is known of the database.
#[derive(Debug)]
pub(super) struct MySql {
    sql: Statements,
    /// The texts of the fetch, by the number of shards and the longest body: they are long.
    fetches: Mutex<BTreeMap<(usize, usize), Arc<str>>>,
    /// Asked for at first need.
    sessions: OnceCell<Sessions>,
}

impl MySql {
    pub(super) fn new(names: &Names) -> Self {
        Self {
            sql: Statements::new(names),
            fetches: Mutex::default(),
            sessions: OnceCell::new(),
        }
    }

    /// A single SELECT needs no transaction: it locks nothing and has a snapshot of its own, also
    /// in SERIALIZABLE. Only READ UNCOMMITTED must be left for it.
    async fn query<const N: usize>(
        &self,
        db: &DatabaseConnection,
        sql: &str,
        values: [Value; N],
    ) -> Result<Vec<QueryResult>, DbErr> {
        self.query_all(db, statement(sql, values)).await
    }

    async fn query_all(
        &self,
        db: &DatabaseConnection,
        statement: Statement,
    ) -> Result<Vec<QueryResult>, DbErr> {
        if !self.sessions(db).await?.reads_dirty {
            return db.query_all_raw(statement).await;
        }
        let txn = self.begin(db).await?;
        let rows = txn.query_all_raw(statement).await;
        self.end(txn, rows).await
    }

    /// The shards that are the member's; locked until the end of the transaction.
    async fn fence(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        owned: &[Owned],
    ) -> Result<BTreeSet<Shard>, DbErr> {
        let values = [pairs(owned).into(), member.into()];
        let rows = txn
            .query_all_raw(statement(&self.sql.fence, values))
            .await?;
        rows.iter().map(|row| row.try_get("", "shard")).collect()
    }
}

async fn execute<const N: usize>(
    txn: &DatabaseTransaction,
    sql: &str,
    values: [Value; N],
) -> Result<(), DbErr> {
    txn.execute_raw(statement(sql, values)).await.map(|_| ())
}

fn statement<const N: usize>(sql: &str, values: [Value; N]) -> Statement {
    Statement::from_sql_and_values(DbBackend::MySql, sql, values)
}

/// Shards and epochs as one parameter, in the order in which everybody locks shards.
fn pairs(owned: &[Owned]) -> String {
    let mut pairs: Vec<_> = owned
        .iter()
        .map(|owned| (owned.shard, owned.epoch))
        .collect();
    pairs.sort_unstable();
    serde_json::json!(pairs).to_string()
}

/// Microseconds to be added to the database's clock, rounded up and at most 100 years: times end
/// with the year 9999.
fn micros(duration: Duration) -> i64 {
    const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
    let micros = duration.min(LONGEST).as_nanos().div_ceil(1000);
    i64::try_from(micros).unwrap_or(i64::MAX)
}

/// The time until an instant, which may have passed.
fn wait(micros: i64) -> Duration {
    Duration::from_micros(micros.try_into().unwrap_or(0))
}
