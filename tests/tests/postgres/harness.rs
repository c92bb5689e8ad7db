use super::database::Database;
use outbox_core::{Draft, Emitted, store::Position};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::{Capability, DeadRow, DeliveredRow, Harness, PendingRow, Tables};
use sea_orm::{QueryResult, TransactionTrait, TryGetable};
use std::time::Duration;
use uuid::Uuid;

/// A schema as everybody has it, or in surroundings that nobody expects.
pub(crate) struct Postgres<const HOSTILE: bool>(pub(crate) Database);

impl<const HOSTILE: bool> Harness for Postgres<HOSTILE> {
    type Store = SeaOrmStore;

    /// `jsonb` has decimals.
    const LACKS: &'static [Capability] = &[Capability::SignedZero];

    async fn fresh() -> Self {
        Self(if HOSTILE {
            Database::hostile().await
        } else {
            Database::plain().await
        })
    }

    fn store(&self) -> SeaOrmStore {
        self.0.store()
    }

    async fn emit(&self, event: Draft) -> Uuid {
        self.0.emit(event).await
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
        let sql = "SELECT seq, id, attempts, crashes, retry_at IS NOT NULL AS waits, last_error \
            FROM \"outbox_event\" ORDER BY seq";
        let rows = self.0.query(sql).await;
        rows.iter()
            .map(|row| PendingRow {
                position: get(row, "seq"),
                id: get(row, "id"),
                attempts: get::<i32>(row, "attempts").into(),
                crashes: get::<i32>(row, "crashes").into(),
                waits: get(row, "waits"),
                last_error: get(row, "last_error"),
            })
            .collect()
    }

    async fn delayed(&self) -> Vec<Uuid> {
        let sql = "SELECT id FROM \"outbox_delayed\" ORDER BY due_at, id";
        let rows = self.0.query(sql).await;
        rows.iter().map(|row| get(row, "id")).collect()
    }

    async fn dead(&self) -> Vec<DeadRow> {
        let sql = "SELECT * FROM \"outbox_dead\" ORDER BY seq";
        let rows = self.0.query(sql).await;
        rows.iter()
            .map(|row| DeadRow {
                position: get(row, "seq"),
                id: get(row, "id"),
                attempts: get::<i32>(row, "attempts").into(),
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
                attempts: get::<i32>(row, "attempts").into(),
            })
            .collect()
    }

    async fn wait_for_waiters(&self) {
        self.0.wait_for_waiters().await;
    }

    async fn corrupt(&self, position: Position) {
        let sql = "UPDATE \"outbox_event\" SET id = '00000000-0000-0000-0000-000000000000', \
            attempts = -1, occurred_at = 'infinity', retry_at = '-infinity' WHERE seq = $1";
        self.0.execute(sql, [position.into()]).await;
    }

    fn tables(&self) -> Option<Tables> {
        Some(Tables::new(&self.0.db, &self.0.outbox))
    }

    /// What others write at the same time cannot be told apart: see `plans` beside the statements.
    async fn changes(&self) -> Option<i64> {
        None
    }
}

fn get<T: TryGetable>(row: &QueryResult, column: &str) -> T {
    row.try_get("", column).unwrap()
}
