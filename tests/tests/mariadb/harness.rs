use super::database::{Database, get};
use outbox_core::{Draft, Emitted, store::Position};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::{Capability, DeadRow, DeliveredRow, Harness, PendingRow, Tables};
use sea_orm::{TransactionTrait, entity::prelude::DateTime};
use std::time::Duration;
use uuid::Uuid;

/// A database on the server.
pub(crate) type MariaDb = Sessions<false>;

/// The same, with names and sessions that nobody expects.
pub(crate) struct Sessions<const HOSTILE: bool>(pub(crate) Database);

/// Whatever a session can have set.
pub(crate) const UNEXPECTED: &str = "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci, time_zone = '-11:00', \
    tx_isolation = 'SERIALIZABLE', auto_increment_increment = 3, \
    lc_messages = 'de_DE', \
    sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,IGNORE_SPACE,\
        HIGH_NOT_PRECEDENCE,ONLY_FULL_GROUP_BY,NO_UNSIGNED_SUBTRACTION,PAD_CHAR_TO_FULL_LENGTH,\
        SIMULTANEOUS_ASSIGNMENT,TIME_ROUND_FRACTIONAL,NO_AUTO_VALUE_ON_ZERO,\
        REAL_AS_FLOAT'";

impl<const HOSTILE: bool> Harness for Sessions<HOSTILE> {
    type Store = SeaOrmStore;

    const LACKS: &'static [Capability] = &[];

    async fn fresh() -> Self {
        Self(match HOSTILE {
            true => Database::odd(UNEXPECTED).await,
            false => Database::fresh().await,
        })
    }

    fn store(&self) -> SeaOrmStore {
        self.0.store()
    }

    async fn emit(&self, event: Draft) -> Uuid {
        let txn = self.0.db.begin().await.unwrap();
        let emitted = self.0.outbox.emit(&txn, event).await.unwrap();
        txn.commit().await.unwrap();
        emitted.id()
    }

    async fn emit_all(&self, events: Vec<Draft>) -> Vec<Emitted> {
        let txn = self.0.db.begin().await.unwrap();
        let emitted = self.0.outbox.emit_all(&txn, events).await.unwrap();
        txn.commit().await.unwrap();
        emitted
    }

    async fn emit_and_roll_back(&self, event: Draft) {
        let txn = self.0.db.begin().await.unwrap();
        self.0.outbox.emit(&txn, event).await.unwrap();
        txn.rollback().await.unwrap();
    }

    async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    async fn pending(&self) -> Vec<PendingRow> {
        let sql = "SELECT * FROM \"outbox_event\" ORDER BY seq";
        let rows = self.0.query(sql).await;
        rows.iter()
            .map(|row| PendingRow {
                position: get(row, "seq"),
                id: get(row, "id"),
                attempts: get(row, "attempts"),
                crashes: get(row, "crashes"),
                waits: get::<Option<DateTime>>(row, "retry_at").is_some(),
                last_error: get(row, "last_error"),
            })
            .collect()
    }

    async fn delayed(&self) -> Vec<Uuid> {
        let sql = "SELECT id AS v FROM \"outbox_delayed\" ORDER BY due_at, id";
        self.0.values(sql).await
    }

    async fn dead(&self) -> Vec<DeadRow> {
        let rows = self
            .0
            .query("SELECT * FROM \"outbox_dead\" ORDER BY seq")
            .await;
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
        let sql = "SELECT * FROM \"outbox_delivered\" ORDER BY seq";
        let rows = self.0.query(sql).await;
        rows.iter()
            .map(|row| DeliveredRow {
                position: get(row, "seq"),
                id: get(row, "id"),
                attempts: get(row, "attempts"),
            })
            .collect()
    }

    async fn wait_for_waiters(&self) {
        self.0.wait_for_waiters().await;
    }

    async fn corrupt(&self, position: Position) {
        // Every 16 bytes are an id; that of nobody is nil.
        let sql =
            "UPDATE \"outbox_event\" SET id = UNHEX(REPEAT('0', 32)), attempts = -1 WHERE seq = ?";
        self.0.execute(sql, [position.into()]).await;
    }

    fn tables(&self) -> Option<Tables> {
        Some(Tables::new(&self.0.db, &self.0.outbox))
    }

    /// Without the 64 rows that a change of owners writes, which is no cost of an event.
    async fn changes(&self) -> Option<i64> {
        let sql = "SELECT CAST(COALESCE(SUM(ROWS_CHANGED), 0) AS SIGNED) AS v \
            FROM information_schema.TABLE_STATISTICS \
            WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE '%outbox_shard'";
        let changes: Vec<i64> = self.0.values(sql).await;
        changes.first().copied()
    }
}
