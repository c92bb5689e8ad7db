use super::database::{self, Database};
use outbox_core::{Draft, Emitted, store::Position};
use outbox_seaorm::{Emit, SeaOrmStore};
use outbox_tests::conformance::{Capability, DeadRow, DeliveredRow, Harness, PendingRow, Tables};
use sea_orm::{ConnectionTrait, DatabaseConnection, QueryResult, TransactionTrait, TryGetable};
use std::{path::PathBuf, time::Duration};
use uuid::Uuid;

/// A database in a file, or in memory.
pub(crate) struct Sqlite<const FILE: bool>(Database);

impl<const FILE: bool> Harness for Sqlite<FILE> {
    type Store = SeaOrmStore;

    const LACKS: &'static [Capability] = if FILE { &[] } else { &[Capability::TimedLease] };

    async fn fresh() -> Self {
        Self(if FILE {
            Database::in_file().await
        } else {
            Database::in_memory().await
        })
    }

    fn store(&self) -> SeaOrmStore {
        self.0.store()
    }

    async fn emit(&self, event: Draft) -> Uuid {
        database::emit(&self.0.db, event).await
    }

    async fn emit_all(&self, events: Vec<Draft>) -> Vec<Emitted> {
        let txn = self.0.db.begin().await.unwrap();
        let emitted = txn.emit_all(events).await.unwrap();
        txn.commit().await.unwrap();
        emitted
    }

    async fn emit_and_roll_back(&self, event: Draft) {
        let txn = self.0.db.begin().await.unwrap();
        txn.emit(event).await.unwrap();
        txn.rollback().await.unwrap();
    }

    async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    async fn pending(&self) -> Vec<PendingRow> {
        let rows = self
            .0
            .query("SELECT * FROM outbox_event ORDER BY seq")
            .await;
        rows.iter()
            .map(|row| PendingRow {
                position: get(row, "seq"),
                id: get(row, "id"),
                attempts: get(row, "attempts"),
                crashes: get(row, "crashes"),
                waits: get::<Option<String>>(row, "retry_at").is_some(),
                last_error: get(row, "last_error"),
            })
            .collect()
    }

    async fn delayed(&self) -> Vec<Uuid> {
        let sql = "SELECT id FROM outbox_delayed ORDER BY due_at, id";
        let rows = self.0.query(sql).await;
        rows.iter().map(|row| get(row, "id")).collect()
    }

    async fn dead(&self) -> Vec<DeadRow> {
        let rows = self.0.query("SELECT * FROM outbox_dead ORDER BY seq").await;
        rows.iter()
            .map(|row| DeadRow {
                position: get(row, "seq"),
                id: get(row, "id"),
                attempts: get(row, "attempts"),
                reason: get(row, "reason"),
                error: get(row, "last_error"),
                blocks: get(row, "blocks_aggregate"),
            })
            .collect()
    }

    async fn delivered(&self) -> Vec<DeliveredRow> {
        let sql = "SELECT * FROM outbox_delivered ORDER BY seq";
        let rows = self.0.query(sql).await;
        rows.iter()
            .map(|row| DeliveredRow {
                position: get(row, "seq"),
                id: get(row, "id"),
                attempts: get(row, "attempts"),
            })
            .collect()
    }

    /// One writes at a time: nobody comes so far as to wait for a row.
    async fn wait_for_waiters(&self) {}

    async fn corrupt(&self, position: Position) {
        // One string on one connection: the pragma must not reach another test's rows.
        let sql = format!(
            "PRAGMA ignore_check_constraints = ON; \
             UPDATE outbox_event SET id = 'no id', attempts = -1, occurred_at = 'today' \
             WHERE seq = {position}; \
             PRAGMA ignore_check_constraints = OFF"
        );
        self.0.db.execute_unprepared(&sql).await.unwrap();
    }

    fn tables(&self) -> Option<Tables> {
        Some(Tables::of(&self.0.db))
    }

    async fn changes(&self) -> Option<i64> {
        if FILE {
            return None;
        }
        Some(self.0.total_changes().await)
    }
}

impl<const FILE: bool> Sqlite<FILE> {
    /// Runs a statement, as an operator does.
    pub(crate) async fn run(&self, sql: &str) {
        self.0.db.execute_unprepared(sql).await.unwrap();
    }

    /// The pool.
    pub(crate) fn connection(&self) -> DatabaseConnection {
        self.0.db.clone()
    }

    /// Another pool on the same file, of one connection.
    pub(crate) async fn open_again(&self) -> DatabaseConnection {
        self.0.open_again().await
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.path()
    }

    /// Gives an event another position.
    pub(crate) async fn move_event(&self, id: Uuid, position: Position) {
        let sql = "UPDATE outbox_event SET seq = ?2 WHERE id = ?1";
        self.0.execute(sql, [id.into(), position.into()]).await;
    }
}

fn get<T: TryGetable>(row: &QueryResult, column: &str) -> T {
    row.try_get("", column).unwrap()
}
