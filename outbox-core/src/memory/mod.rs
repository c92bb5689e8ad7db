//! A store in memory: for tests, and for trying things out.

mod clock;
mod content;
mod state;
mod verbs;
mod operator;
mod replay;
mod questions;
#[cfg(feature = "testing")]
mod pass;

pub use content::{DeadLetter, DelayedEvent, PendingEvent};

use crate::{
    emit::{Emitted, IntoDraft, InvalidEvent, Limits, NewEvent},
    envelope::Envelope,
    headers::Headers,
    store::Shard,
    wake::Wake,
};
use chrono::{DateTime, Utc};
use clock::Clock;
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The only shard.
const SHARD: Shard = 0;

/// A store in memory; a clone is the same store.
///
/// There are no transactions: what is emitted is committed. Its clock is tokio's, so that
/// `tokio::time::pause` and `advance` make leases, delays and retries virtual; it starts at
/// 2026-01-01 ([`now`](Self::now) tells it). Leases are timed by that clock.
///
/// ```
/// # use outbox_core::{MemoryStore, OutboxEvent, __private::*};
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct Placed { order_id: u32 }
/// # impl OutboxEvent for Placed {
/// #     const CONTRACT: Contract =
/// #         Contract::new("Placed", "order", Shape::Struct, &[TopicSpec::new("order.placed", "Placed")]);
/// #     fn topic_index(&self) -> usize { 0 }
/// #     fn key(&self) -> Option<String> { Some(self.order_id.to_string()) }
/// # }
/// let store = MemoryStore::new();
/// store.emit(Placed { order_id: 7 })?;
/// assert_eq!(store.pending()[0].event.topic, "order.placed");
/// # Ok::<(), outbox_core::InvalidEvent>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    clock: Clock,
    /// Held for the length of one verb, never across an await.
    state: Mutex<State>,
    wake: Wake,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self {
            inner: Arc::new(Inner {
                clock: Clock::start(),
                state: Mutex::default(),
                wake: Wake::new(),
            }),
        }
    }

    /// Emits an event and wakes the dispatchers; returns what became of it.
    ///
    /// # Errors
    /// When the event cannot be written: see [`InvalidEventKind`](crate::InvalidEventKind).
    pub fn emit(&self, event: impl IntoDraft) -> Result<Emitted, InvalidEvent> {
        let event = finish(event)?;
        let now = self.now();
        let emitted = self.state().emit(now, event);
        self.inner.wake.notify();
        Ok(emitted)
    }

    /// Emits events, all or none, in their order; returns what became of each.
    ///
    /// # Errors
    /// When one of them cannot be written: see [`InvalidEventKind`](crate::InvalidEventKind).
    pub fn emit_all<D: IntoDraft>(
        &self,
        events: impl IntoIterator<Item = D>,
    ) -> Result<Vec<Emitted>, InvalidEvent> {
        let events = events
            .into_iter()
            .map(finish)
            .collect::<Result<Vec<_>, _>>()?;
        let now = self.now();
        let mut state = self.state();
        let emitted = events.into_iter().map(|event| state.emit(now, event));
        let emitted = emitted.collect();
        drop(state);
        self.inner.wake.notify();
        Ok(emitted)
    }

    /// The store's clock.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.inner.clock.now()
    }

    /// The events that are still to be delivered, by position.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingEvent> {
        self.state().pending.values().cloned().collect()
    }

    /// The events that are not due yet, in the order in which they fall due.
    #[must_use]
    pub fn delayed(&self) -> Vec<DelayedEvent> {
        self.state().delayed.values().cloned().collect()
    }

    /// The dead letters, by position.
    #[must_use]
    pub fn dead(&self) -> Vec<DeadLetter> {
        self.state().dead.values().cloned().collect()
    }

    /// The events that were delivered and kept, in the order in which they were.
    #[must_use]
    pub fn delivered(&self) -> Vec<Envelope> {
        let state = self.state();
        let delivered = state.delivered.iter();
        delivered.map(|row| row.event.clone()).collect()
    }

    /// A verb that panicked has left the tables as they were after its last step: they are used on.
    fn state(&self) -> MutexGuard<'_, State> {
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

fn finish(event: impl IntoDraft) -> Result<NewEvent, InvalidEvent> {
    event
        .into_draft()
        .finish(&Limits::default(), &Headers::new())
}
