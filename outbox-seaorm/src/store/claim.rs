use super::{Backend, SeaOrmStore, apart, not_supported, store_error};
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
                let committed = txn.commit().await;
                committed.map_err(|error| self.claim_error("committing", error))?;
                Ok(Completion::Written)
            }
            Ok(nothing) => {
                let rolled_back = txn.rollback().await;
                rolled_back.map_err(|error| self.claim_error("rolling back", error))?;
                Ok(nothing)
            }
            Err(error) => {
                // The first error is what is told; nothing has been committed in any case.
                let _ = txn.rollback().await;
                Err(self.claim_error("completing an event", error))
            }
        }
    }

    async fn roll_back(&self, txn: DatabaseTransaction) -> Result<(), StoreError> {
        let rolled_back = txn.rollback().await;
        rolled_back.map_err(|error| self.claim_error("rolling back", error))
    }
}

/// It is gone when the transaction is: some errors end one, and so does DDL on MySQL. What comes next
/// would be committed one by one.
const MARK: &str = "SAVEPOINT outbox_claim";

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
    fn claim_error(&self, context: &'static str, error: DbErr) -> StoreError {
        store_error(self.db.get_database_backend(), context, error)
    }
}
