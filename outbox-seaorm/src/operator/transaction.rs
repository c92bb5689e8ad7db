use super::text::statement;
use crate::store::{SeaOrmStore, StoreError, StoreErrorKind, store_error};
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, IsolationLevel, QueryResult,
    SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait, Value,
};
use std::time::Duration;
use tokio::time::sleep;

/// One transaction of an operator's verb.
pub(super) struct Transaction<'a> {
    txn: DatabaseTransaction,
    store: &'a SeaOrmStore,
}

/// How often a verb is tried when another transaction is in its way.
const TRIES: u32 = 8;

/// How often a verb has been tried.
#[derive(Debug, Default)]
pub(super) struct Tries(u32);

impl Tries {
    /// Waits for another try where another transaction was in the way.
    pub(super) async fn again(&mut self, error: StoreError) -> Result<(), StoreError> {
        self.0 += 1;
        if error.kind() != StoreErrorKind::Contention || self.0 == TRIES {
            return Err(error);
        }
        sleep(Duration::from_millis(10) * self.0).await;
        Ok(())
    }
}

impl SeaOrmStore {
    /// READ COMMITTED, whatever the sessions default to; on SQLite with the write lock, which a
    /// transaction that reads first is refused later.
    pub(super) async fn start(&self) -> Result<Transaction<'_>, DbErr> {
        let options = match self.backend() {
            DbBackend::Sqlite => TransactionOptions {
                sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
                ..TransactionOptions::default()
            },
            _ => TransactionOptions {
                isolation_level: Some(IsolationLevel::ReadCommitted),
                ..TransactionOptions::default()
            },
        };
        let txn = self.db().begin_with_options(options).await?;
        Ok(Transaction { txn, store: self })
    }

    /// Asks for rows: in READ COMMITTED, as under SERIALIZABLE a question could cancel transactions
    /// of the application.
    pub(super) async fn ask<const N: usize>(
        &self,
        context: &'static str,
        sql: &str,
        values: [Value; N],
    ) -> Result<Vec<QueryResult>, StoreError> {
        let statement = self.statement(sql, values);
        let rows = self.try_asking(statement).await;
        rows.map_err(|error| self.error(context, error))
    }

    async fn try_asking(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        if self.backend() == DbBackend::Sqlite {
            return self.db().query_all_raw(statement).await;
        }
        let txn = self.start().await?;
        let rows = txn.txn.query_all_raw(statement).await?;
        txn.commit().await?;
        Ok(rows)
    }

    pub(super) fn error(&self, context: &'static str, error: DbErr) -> StoreError {
        store_error(self.backend(), context, error)
    }

    fn statement(&self, sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
        statement(self.backend(), self.outbox().names(), sql, values)
    }

    fn backend(&self) -> DbBackend {
        self.db().get_database_backend()
    }
}

impl Transaction<'_> {
    /// The first row of an answer.
    pub(super) async fn row<const N: usize>(
        &self,
        sql: &str,
        values: [Value; N],
    ) -> Result<Option<QueryResult>, DbErr> {
        let statement = self.store.statement(sql, values);
        self.txn.query_one_raw(statement).await
    }

    /// All rows of an answer.
    pub(super) async fn rows<const N: usize>(
        &self,
        sql: &str,
        values: [Value; N],
    ) -> Result<Vec<QueryResult>, DbErr> {
        let statement = self.store.statement(sql, values);
        self.txn.query_all_raw(statement).await
    }

    /// All rows of an answer, to any number of parameters.
    pub(super) async fn rows_of(
        &self,
        sql: &str,
        values: Vec<Value>,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let statement = self.store.statement(sql, values);
        self.txn.query_all_raw(statement).await
    }

    /// Changes rows, by any number of parameters; returns how many.
    pub(super) async fn change_by(&self, sql: &str, values: Vec<Value>) -> Result<u64, DbErr> {
        let statement = self.store.statement(sql, values);
        Ok(self.txn.execute_raw(statement).await?.rows_affected())
    }

    /// Changes rows; returns how many.
    pub(super) async fn change<const N: usize>(
        &self,
        sql: &str,
        values: [Value; N],
    ) -> Result<u64, DbErr> {
        let statement = self.store.statement(sql, values);
        let changed = self.txn.execute_raw(statement).await?;
        Ok(changed.rows_affected())
    }

    pub(super) async fn roll_back(self) -> Result<(), DbErr> {
        self.txn.rollback().await
    }

    pub(super) async fn commit(self) -> Result<(), DbErr> {
        self.txn.commit().await
    }
}
