//! The sessions of the pool, and the store's transactions in them.

use super::{MySql, statement};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, IsolationLevel,
    TransactionTrait,
};
use std::time::Duration;

/// How the application has set its sessions up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sessions {
    /// They default to READ UNCOMMITTED.
    pub(super) reads_dirty: bool,
    /// For how many seconds the server waits for the next word of a client.
    wait: u64,
}

/// For how long the server waits for the next word in a transaction of the store. The client may be
/// cut off, and the server not know: its locks would stay for as long as sessions may be silent, by
/// default 8 hours.
const SILENCE: Duration = Duration::from_secs(10);

impl MySql {
    /// Never inside of a transaction: it may take a connection.
    pub(super) async fn sessions(&self, db: &DatabaseConnection) -> Result<Sessions, DbErr> {
        self.sessions.get_or_try_init(|| ask(db)).await.copied()
    }

    /// READ COMMITTED, whatever the sessions default to: there are no gap locks to hold up emitters,
    /// and each statement sees what was committed before it. Never inside of another transaction:
    /// SeaORM would roll that one back.
    pub(super) async fn begin(
        &self,
        db: &DatabaseConnection,
    ) -> Result<DatabaseTransaction, DbErr> {
        let sessions = self.sessions(db).await?;
        let txn = db
            .begin_with_config(Some(IsolationLevel::ReadCommitted), None)
            .await?;
        txn.execute_unprepared(&sessions.bounded(SILENCE)).await?;
        Ok(txn)
    }

    /// Commits what has gone well and undoes what has not. No word is waited for between the end and
    /// what makes the session as it was.
    pub(super) async fn end<T>(
        &self,
        txn: DatabaseTransaction,
        result: Result<T, DbErr>,
    ) -> Result<T, DbErr> {
        let word = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let usual = self.usual().unwrap_or_default();
        let ended = txn.execute_unprepared(&format!("{word}; {usual}")).await;
        match result {
            Ok(value) => {
                ended?;
                // There is nothing left of it but what the pool knows.
                txn.commit().await?;
                Ok(value)
            }
            Err(error) => {
                // The first error is what is told.
                let _ = txn.rollback().await;
                Err(error)
            }
        }
    }

    /// What makes a session as it was, where one has been used.
    pub(in crate::store) fn usual(&self) -> Option<String> {
        self.sessions.get().map(|sessions| set(sessions.wait))
    }
}

impl Sessions {
    /// What lets the server end a transaction of a client that is silent for so long.
    pub(super) fn bounded(self, silence: Duration) -> String {
        let seconds = silence.as_nanos().div_ceil(1_000_000_000).max(1);
        set(self.wait.min(u64::try_from(seconds).unwrap_or(u64::MAX)))
    }
}

fn set(wait: u64) -> String {
    format!("SET SESSION wait_timeout = {wait}")
}

async fn ask(db: &DatabaseConnection) -> Result<Sessions, DbErr> {
    // A comment with `M!` is code to MariaDB alone, one with `!8` to MySQL alone.
    let sql = "SELECT CAST(/*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ \
               AS CHAR(20)) AS level, CAST(@@SESSION.wait_timeout AS UNSIGNED) AS wait";
    let row = db.query_one_raw(statement(sql, [])).await?;
    let row = row.ok_or_else(|| DbErr::RecordNotFound("no answer of the session".to_owned()))?;
    let level: Option<String> = row.try_get("", "level")?;
    Ok(Sessions {
        reads_dirty: level.as_deref() == Some("READ-UNCOMMITTED"),
        wait: row.try_get("", "wait")?,
    })
}
