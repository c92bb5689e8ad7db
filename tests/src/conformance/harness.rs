use super::Tables;
use outbox_core::{Draft, Emitted, operator::OperatorStore, store::Position, testing::TestStore};
use std::{future::Future, time::Duration};
use uuid::Uuid;

/// An empty store, and a look at what is in it from outside.
pub trait Harness: Sized + Send + Sync {
    /// The store under test.
    type Store: OperatorStore + TestStore;

    /// What this store does not have.
    const LACKS: &'static [Capability];

    /// An empty store.
    fn fresh() -> impl Future<Output = Self> + Send;

    /// The store, as a dispatcher of its own gets it.
    fn store(&self) -> Self::Store;

    /// Emits an event in a transaction that commits.
    fn emit(&self, event: Draft) -> impl Future<Output = Uuid> + Send;

    /// Emits events in one transaction that commits.
    fn emit_all(&self, events: Vec<Draft>) -> impl Future<Output = Vec<Emitted>> + Send;

    /// Emits an event in a transaction that rolls back.
    fn emit_and_roll_back(&self, event: Draft) -> impl Future<Output = ()> + Send;

    /// Lets this much of the database's time pass.
    fn pass(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// The events to be delivered, by position.
    fn pending(&self) -> impl Future<Output = Vec<PendingRow>> + Send;

    /// The events that are not due, in the order in which they fall due.
    fn delayed(&self) -> impl Future<Output = Vec<Uuid>> + Send;

    /// The dead letters, by position.
    fn dead(&self) -> impl Future<Output = Vec<DeadRow>> + Send;

    /// The history, by position.
    fn delivered(&self) -> impl Future<Output = Vec<DeliveredRow>> + Send;

    /// Waits until a session waits for what another one holds, where that can be seen.
    fn wait_for_waiters(&self) -> impl Future<Output = ()> + Send;

    /// Makes an event's row what a careless foreign writer would have written: an id that is none.
    fn corrupt(&self, position: Position) -> impl Future<Output = ()> + Send;

    /// The tables behind it, where there are any.
    fn tables(&self) -> Option<Tables>;

    /// How many rows have been written so far, where that can be told.
    fn changes(&self) -> impl Future<Output = Option<i64>> + Send;
}

/// What a store may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Emitting takes part in a transaction.
    Transactions,
    /// Leases run out by the database's clock.
    TimedLease,
    /// Others can write rows.
    ForeignRows,
    /// A zero in a payload keeps its sign.
    SignedZero,
}

/// An event to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRow {
    /// Its position.
    pub position: Position,
    /// Its id.
    pub id: Uuid,
    /// How many deliveries have failed.
    pub attempts: i64,
    /// How many owners died while it may have been in work.
    pub crashes: i64,
    /// Whether it waits for its next attempt.
    pub waits: bool,
    /// The last error.
    pub last_error: Option<String>,
}

/// A dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadRow {
    /// Its position.
    pub position: Position,
    /// Its id.
    pub id: Uuid,
    /// How many deliveries have failed.
    pub attempts: i64,
    /// Why it was given up.
    pub reason: String,
    /// The last error.
    pub error: String,
    /// Whether its aggregate waits.
    pub blocks: bool,
}

/// A delivered event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredRow {
    /// Its position.
    pub position: Position,
    /// Its id.
    pub id: Uuid,
    /// How many deliveries had failed before.
    pub attempts: i64,
}
