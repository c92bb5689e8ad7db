use super::{
    Inbox, InboxError, Message,
    statement::{How, Taken},
};
use crate::{emit::InTransaction, transaction::begin_immediate, whole};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, TransactionSession,
};
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Once<T> {
    /// The work was done now, and this is what it returned.
    Done(T),
    /// It had been done before.
    Duplicate,
}

impl<T> Once<T> {
    /// Whether the work had been done before.
    #[must_use]
    pub const fn is_duplicate(&self) -> bool {
        matches!(self, Self::Duplicate)
    }
}

/// How often it is tried to take a message while another transaction is in the way.
const TRIES: u32 = 8;

impl Inbox {
    /// Works on a message once: in one transaction with the record that it was received. When the
    /// work fails or the process dies, there is neither, and the message is new when it comes again.
    ///
    /// Of two at the same moment one waits until the other has committed, and is the duplicate; or
    /// does the work when the other one fails. The transaction is that of
    /// [`begin_immediate`](crate::begin_immediate), at the isolation level that sessions have.
    /// Nothing but work in this database belongs into it: for everything else there is
    /// [`begin`](Self::begin).
    ///
    /// ```
    /// use outbox_seaorm::{Inbox, inbox::Once, schema};
    /// use sea_orm::{ConnectionTrait, Database, DbErr};
    /// # use uuid::Uuid;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let event_id = Uuid::now_v7();
    /// let db = Database::connect("sqlite::memory:").await?;
    /// schema::create(&db).await?;
    /// db.execute_unprepared("CREATE TABLE stock (n INTEGER)").await?;
    /// db.execute_unprepared("INSERT INTO stock VALUES (10)").await?;
    ///
    /// let reservations = Inbox::new("reservations")?;
    /// for _ in 0..2 {
    ///     let reserve = async |txn: &sea_orm::DatabaseTransaction| {
    ///         txn.execute_unprepared("UPDATE stock SET n = n - 1").await?;
    ///         Ok::<_, DbErr>(())
    ///     };
    ///     reservations.once(&db, event_id, reserve).await?;
    /// }
    /// # let left = sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, "SELECT n FROM stock");
    /// # let left: i32 = db.query_one_raw(left).await?.unwrap().try_get("", "n")?;
    /// assert_eq!(left, 9);
    /// # let again = reservations.once(&db, event_id, async |_| Ok::<_, DbErr>(())).await?;
    /// # assert_eq!(again, Once::Duplicate);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The work's own, after which everything is rolled back; or an [`InboxError`]: also where the work
    /// has ended the transaction (by DDL on MySQL, for one), has left a nested one open, or went on
    /// after an error with which PostgreSQL stores nothing any more.
    ///
    /// # Cancel safety
    /// Dropped, everything is rolled back, unless it was committed already: the message may come
    /// again in either case.
    pub async fn once<T, E, F>(
        &self,
        db: &DatabaseConnection,
        message: impl Into<Message>,
        work: F,
    ) -> Result<Once<T>, E>
    where
        F: AsyncFnOnce(&DatabaseTransaction) -> Result<T, E>,
        E: From<InboxError>,
    {
        let Some(txn) = self.open(db, message.into()).await? else {
            return Ok(Once::Duplicate);
        };
        match work(&txn).await {
            Ok(done) => {
                let committed = whole::commit(txn).await;
                committed.map_err(|source| self.failed(db, source))?;
                Ok(Once::Done(done))
            }
            Err(error) => {
                // What could not be rolled back now is when its connection is.
                let _ = whole::undo(txn, None).await;
                Err(error)
            }
        }
    }

    /// Records in a transaction of yours that a message was received; `false` when it was before.
    /// The same as [`once`](Self::once) for code that has its transaction already: do the work in
    /// it only after `true`, and begin it by [`begin_immediate`](crate::begin_immediate).
    ///
    /// ```
    /// use outbox_seaorm::{Inbox, begin_immediate, schema};
    /// # use sea_orm::Database;
    /// # use uuid::Uuid;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let event_id = Uuid::now_v7();
    /// # let db = Database::connect("sqlite::memory:").await?;
    /// # schema::create(&db).await?;
    /// # let reservations = Inbox::new("reservations")?;
    /// let txn = begin_immediate(&db).await?;
    /// if reservations.record(&txn, event_id).await? {
    ///     // … the work, through `&txn` …
    /// }
    /// txn.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InProgress`](super::InboxErrorKind::InProgress), after which the transaction goes on; or
    /// the database's: roll back.
    pub async fn record<C: ConnectionTrait + InTransaction + ?Sized>(
        &self,
        txn: &C,
        message: impl Into<Message>,
    ) -> Result<bool, InboxError> {
        let claim = Uuid::now_v7();
        match self.take(txn, message.into(), claim, How::Done).await? {
            Taken::Mine(_) => Ok(true),
            Taken::Done => Ok(false),
            Taken::InProgress => Err(InboxError::in_progress()),
        }
    }

    /// A transaction that has recorded the message; none when it was recorded before. Nothing has
    /// been done yet when somebody is in the way: it begins anew.
    async fn open(
        &self,
        db: &DatabaseConnection,
        message: Message,
    ) -> Result<Option<DatabaseTransaction>, InboxError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.try_opening(db, message).await {
                Err(error) if tries < TRIES => error,
                opened => return opened,
            };
            if error.kind() != super::InboxErrorKind::Contention {
                return Err(error);
            }
            sleep(Duration::from_millis(10) * tries).await;
        }
    }

    async fn try_opening(
        &self,
        db: &DatabaseConnection,
        message: Message,
    ) -> Result<Option<DatabaseTransaction>, InboxError> {
        let txn = begin_immediate(db).await;
        let txn = txn.map_err(|source| self.failed(db, source))?;
        if self.record(&txn, message).await? {
            let marked = whole::mark(&txn).await;
            marked.map_err(|source| self.failed(db, source))?;
            return Ok(Some(txn));
        }
        let ended = TransactionSession::rollback(txn).await;
        ended.map_err(|source| self.failed(db, source))?;
        Ok(None)
    }

    pub(super) fn failed(&self, db: &DatabaseConnection, source: DbErr) -> InboxError {
        InboxError::database(db.get_database_backend(), source)
    }
}
