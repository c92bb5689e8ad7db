use super::{Backend, SeaOrmStore, apart, not_supported, store_error};
use crate::db_error;
use outbox_core::store::{Claim, Completion, History, Room, StoreError, TransactionalStore};
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, ExecResult, Statement, TransactionTrait,
};

/// A handler gets what `db.begin()` gives, on SQLite with the write lock in hand.
impl TransactionalStore for SeaOrmStore {
    type Transaction = DatabaseTransaction;

    fn room(&self) -> Room {
        match self.db.get_database_backend() {
            DbBackend::Sqlite => Room::exclusive(),
            _ => Room::in_pool(apart::max_connections(&self.db).unwrap_or(1)),
        }
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<DatabaseTransaction>, StoreError> {
        let claimed = match &self.backend {
            Backend::Sqlite(backend) => backend.claim(&self.db, claim).await,
            Backend::Postgres(backend) => backend.claim(&self.db, claim).await,
            Backend::MySql(backend) => backend.claim(&self.db, claim).await,
            Backend::Other(backend) => Err(not_supported(*backend)),
        };
        claimed.map_err(|error| self.claim_error("claiming an event", error))
    }

    async fn complete(
        &self,
        txn: DatabaseTransaction,
        claim: &Claim,
        history: History,
    ) -> Result<Completion, StoreError> {
        let completed = match &self.backend {
            Backend::Sqlite(backend) => backend.complete(&txn, claim, history).await,
            Backend::Postgres(backend) => backend.complete(&txn, claim, history).await,
            Backend::MySql(backend) => backend.complete(&txn, claim, history).await,
            Backend::Other(backend) => Err(not_supported(*backend)),
        };
        match completed {
            Ok(Completion::Written) => {
                let committed = txn.commit().await.map_err(of_commit);
                committed.map_err(|error| self.claim_error("committing", error))?;
                Ok(Completion::Written)
            }
            Ok(nothing) => {
                let undone = self.undo(txn).await;
                undone.map_err(|error| self.claim_error("rolling back", error))?;
                Ok(nothing)
            }
            Err(error) => {
                // The first error is what is told; nothing has been committed in any case.
                let _ = self.undo(txn).await;
                Err(self.claim_error("completing an event", error))
            }
        }
    }

    async fn roll_back(&self, txn: DatabaseTransaction) -> Result<(), StoreError> {
        let undone = self.undo(txn).await;
        undone.map_err(|error| self.claim_error("rolling back", error))
    }
}

/// What sqlx calls the savepoint of a nested transaction, with its depth behind it.
const NESTED: &str = "SAVEPOINT _sqlx_savepoint_";

/// Whether a nested transaction is open, by the name of one that begins here. The savepoint alone tells
/// nothing: sqlx leaves that of a nested transaction that was rolled back.
pub(in crate::store) async fn is_nested(txn: &DatabaseTransaction) -> Result<bool, DbErr> {
    let probe = txn.begin().await?;
    let second = format!("ROLLBACK TO {NESTED}2");
    let nested = probe.execute_unprepared(&second).await.is_ok();
    probe.rollback().await?;
    Ok(nested)
}

/// A nested transaction is open at the end of the handler: what commits would be that one.
pub(in crate::store) fn left_open() -> DbErr {
    let problem = "the handler has left a nested transaction open: end it before the handler does";
    DbErr::Custom(problem.to_owned())
}

/// On MySQL only the commit shows that something else is open: its savepoint went with the mark.
fn of_commit(error: DbErr) -> DbErr {
    match db_error::state(&error).as_deref() {
        Some("42000") => left_open(),
        _ => error,
    }
}

/// It is gone when the transaction is: some errors end one, and so does DDL on MySQL. What comes next
/// would be committed one by one.
pub(in crate::store) const MARK: &str = "SAVEPOINT outbox_claim";

/// Marks a transaction, so that [`still_marked`] knows it.
pub(in crate::store) async fn mark(txn: &DatabaseTransaction) -> Result<(), DbErr> {
    txn.execute_unprepared(MARK).await.map(drop)
}

/// Fails where the handler has ended the transaction that was marked.
pub(in crate::store) async fn still_marked(txn: &DatabaseTransaction) -> Result<(), DbErr> {
    txn.execute_unprepared(&format!("RELEASE {MARK}"))
        .await
        .map(drop)
}

/// What taking out an event that was claimed has done.
pub(in crate::store) fn taken_out(deleted: &ExecResult) -> Completion {
    match deleted.rows_affected() {
        0 => Completion::Gone,
        _ => Completion::Written,
    }
}

/// The transaction, if the statement has found the event and locked it; else it is over.
pub(in crate::store) async fn having(
    txn: DatabaseTransaction,
    claim: Statement,
) -> Result<Option<DatabaseTransaction>, DbErr> {
    if txn.query_one_raw(claim).await?.is_some() {
        return Ok(Some(txn));
    }
    txn.rollback().await?;
    Ok(None)
}

impl SeaOrmStore {
    /// Undoes a handler's transaction, also where the database has ended it by itself, and where
    /// somebody still holds a nested one, with which everything around it would be committed. sqlx
    /// counts what is open and ends it by its name: so all of it is there again, and empty.
    async fn undo(&self, txn: DatabaseTransaction) -> Result<(), DbErr> {
        const DEPTH: usize = 4;
        let mut sql = match &self.backend {
            Backend::Sqlite(_) => {
                // An error where there is no transaction.
                let _ = txn.execute_unprepared("ROLLBACK").await;
                String::new()
            }
            Backend::MySql(backend) => {
                let usual = backend.usual();
                usual.map_or_else(
                    || "ROLLBACK; ".to_owned(),
                    |usual| format!("ROLLBACK; {usual}; "),
                )
            }
            _ => "ROLLBACK; ".to_owned(),
        };
        sql.push_str("BEGIN");
        for depth in 1..=DEPTH {
            sql.push_str(&format!("; {NESTED}{depth}"));
        }
        txn.execute_unprepared(&sql).await?;
        txn.rollback().await
    }

    fn claim_error(&self, context: &'static str, error: DbErr) -> StoreError {
        store_error(self.db.get_database_backend(), context, error)
    }
}
