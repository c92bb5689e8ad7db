use super::{Backend, SeaOrmStore, apart, not_supported};
use crate::whole::{of_commit, undo};
use outbox_core::store::{Claim, Completion, History, Room, StoreError, TransactionalStore};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, ExecResult, Statement};

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
        let claimed = match self.ready() {
            Backend::Sqlite(backend) => backend.claim(&self.db, claim).await,
            Backend::Postgres(backend) => backend.claim(&self.db, claim).await,
            Backend::MySql(backend) => backend.claim(&self.db, claim).await,
            Backend::Other(backend) => Err(not_supported(*backend)),
        };
        claimed.map_err(|error| self.failed("claiming an event", error))
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
                committed.map_err(|error| self.failed("committing", error))?;
                Ok(Completion::Written)
            }
            Ok(nothing) => {
                let undone = self.undo(txn).await;
                undone.map_err(|error| self.failed("rolling back", error))?;
                Ok(nothing)
            }
            Err(error) => {
                // The first error is what is told; nothing has been committed in any case.
                let _ = self.undo(txn).await;
                Err(self.failed("completing an event", error))
            }
        }
    }

    async fn roll_back(&self, txn: DatabaseTransaction) -> Result<(), StoreError> {
        let undone = self.undo(txn).await;
        undone.map_err(|error| self.failed("rolling back", error))
    }
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
    /// Undoes a handler's transaction, and makes its session as it was.
    async fn undo(&self, txn: DatabaseTransaction) -> Result<(), DbErr> {
        let usual = match &self.backend {
            Backend::MySql(backend) => backend.usual(),
            _ => None,
        };
        undo(txn, usual).await
    }
}
