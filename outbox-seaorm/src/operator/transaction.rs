use super::text::statement;
use crate::store::{SeaOrmStore, StoreError, StoreErrorKind};
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

/// Questions that are asked one after the other.
pub(super) struct Asking<'a> {
    pub(super) store: &'a SeaOrmStore,
    /// None on SQLite, where a transaction would be a writer.
    txn: Option<Transaction<'a>>,
}

impl Asking<'_> {
    /// All rows of an answer.
    pub(super) async fn rows(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<QueryResult>, DbErr> {
        match &self.txn {
            Some(txn) => txn.rows(sql, values).await,
            None => {
                let statement = self.store.statement(sql, values);
                self.store.db().query_all_raw(statement).await
            }
        }
    }

    pub(super) async fn end(self) -> Result<(), DbErr> {
        match self.txn {
            Some(txn) => txn.commit().await,
            None => Ok(()),
        }
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

    /// Asks one question.
    pub(super) async fn ask(
        &self,
        context: &'static str,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<QueryResult>, StoreError> {
        let rows = self.try_asking(sql, values).await;
        rows.map_err(|error| self.error(context, error))
    }

    async fn try_asking(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let asking = self.asking().await?;
        let rows = asking.rows(sql, values).await?;
        asking.end().await?;
        Ok(rows)
    }

    /// Starts to ask: in READ COMMITTED, as under SERIALIZABLE a question could cancel transactions
    /// of the application.
    pub(super) async fn asking(&self) -> Result<Asking<'_>, DbErr> {
        let txn = match self.backend() {
            DbBackend::Sqlite => None,
            _ => Some(self.start().await?),
        };
        if let (DbBackend::Postgres, Some(txn)) = (self.backend(), &txn) {
            // What a look may pass is not known when it is planned: it is taken for a long query, and
            // compiled for half a second.
            txn.txn.execute_unprepared("SET LOCAL jit = off").await?;
        }
        Ok(Asking { store: self, txn })
    }

    pub(super) fn error(&self, context: &'static str, error: DbErr) -> StoreError {
        self.failed(context, error)
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
    pub(super) async fn row(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Option<QueryResult>, DbErr> {
        let statement = self.store.statement(sql, values);
        self.txn.query_one_raw(statement).await
    }

    /// All rows of an answer.
    pub(super) async fn rows(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let statement = self.store.statement(sql, values);
        self.txn.query_all_raw(statement).await
    }

    /// Changes rows; returns how many.
    pub(super) async fn change(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
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
