use super::EmittedEvents;
use crate::store::{Store, StoreError};
use std::{future::Future, time::Duration};

/// A store as a test sees it: what was emitted, and a clock that can be moved.
pub trait TestStore: Store {
    /// All events that are there: to be delivered, delayed, dead letters, and the history as far as
    /// it is kept.
    ///
    /// # Errors
    /// When the database cannot answer.
    fn emitted(&self) -> impl Future<Output = Result<EmittedEvents, StoreError>> + Send;

    /// Lets this much of the outbox's time pass: delays, pauses before retries, leases and whatever
    /// is kept for a time are nearer to their end by it. Nothing waits, and a dispatcher that runs
    /// looks again.
    ///
    /// # Errors
    /// When the database cannot be changed.
    fn advance(&self, time: Duration) -> impl Future<Output = Result<(), StoreError>> + Send;
}
