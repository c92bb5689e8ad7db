use outbox_core::{Draft, Emitted, MemoryStore, store::Position};
use outbox_tests::conformance::{Capability, DeadRow, DeliveredRow, Harness, PendingRow, Tables};
use std::time::Duration;
use uuid::Uuid;

/// Its time is virtual.
pub(crate) struct Memory(MemoryStore);

impl Memory {
    /// For a test that has paused the clock.
    pub(crate) fn new() -> Self {
        Self(MemoryStore::new())
    }
}

impl Harness for Memory {
    type Store = MemoryStore;

    const LACKS: &'static [Capability] = &[Capability::Transactions, Capability::ForeignRows];

    async fn fresh() -> Self {
        tokio::time::pause();
        Self::new()
    }

    fn store(&self) -> MemoryStore {
        self.0.clone()
    }

    async fn emit(&self, event: Draft) -> Uuid {
        self.0.emit(event).unwrap().id()
    }

    async fn emit_all(&self, events: Vec<Draft>) -> Vec<Emitted> {
        self.0.emit_all(events).unwrap()
    }

    async fn emit_and_roll_back(&self, _: Draft) {
        unreachable!("no law that needs a transaction is run")
    }

    async fn pass(&self, time: Duration) {
        tokio::time::advance(time).await;
    }

    async fn pending(&self) -> Vec<PendingRow> {
        let pending = self.0.pending().into_iter();
        pending
            .map(|row| PendingRow {
                position: row.event.position,
                id: row.event.id,
                attempts: row.event.attempts.into(),
                crashes: row.crashes.into(),
                waits: row.retry_at.is_some(),
                last_error: row.last_error,
            })
            .collect()
    }

    async fn delayed(&self) -> Vec<Uuid> {
        let delayed = self.0.delayed();
        delayed.iter().map(|row| row.event.id).collect()
    }

    async fn dead(&self) -> Vec<DeadRow> {
        let dead = self.0.dead().into_iter();
        dead.map(|letter| DeadRow {
            position: letter.event.position,
            id: letter.event.id,
            attempts: letter.event.attempts.into(),
            reason: letter.reason.to_string(),
            error: letter.error,
            blocks: letter.blocks,
        })
        .collect()
    }

    async fn delivered(&self) -> Vec<DeliveredRow> {
        let mut delivered = self.0.delivered();
        delivered.sort_by_key(|event| event.position);
        delivered
            .iter()
            .map(|event| DeliveredRow {
                position: event.position,
                id: event.id,
                attempts: event.attempts.into(),
            })
            .collect()
    }

    async fn wait_for_waiters(&self) {}

    async fn corrupt(&self, _: Position) {
        unreachable!("no law that needs a foreign row is run")
    }

    fn tables(&self) -> Option<Tables> {
        None
    }

    async fn changes(&self) -> Option<i64> {
        None
    }
}
