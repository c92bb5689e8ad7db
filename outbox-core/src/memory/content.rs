use crate::{
    emit::NewEvent,
    envelope::Envelope,
    store::{Body, DeadReason, Position, Row},
};
use chrono::{DateTime, Utc};

/// An event in a [`MemoryStore`](super::MemoryStore) that is still to be delivered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingEvent {
    /// The event.
    pub event: Envelope,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// How many owners died while it may have been in work, since its last outcome.
    pub crashes: u32,
    /// The earliest next attempt, where one has failed.
    pub retry_at: Option<DateTime<Utc>>,
    /// The error of the last attempt.
    pub last_error: Option<String>,
}

/// An event in a [`MemoryStore`](super::MemoryStore) that is not due yet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DelayedEvent {
    /// The event as it was emitted.
    pub event: NewEvent,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// When it falls due, by the store's clock.
    pub due_at: DateTime<Utc>,
}

/// A dead letter in a [`MemoryStore`](super::MemoryStore).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The event.
    pub event: Envelope,
    /// Why it was given up.
    pub reason: DeadReason,
    /// The last error.
    pub error: String,
    /// Whether the events behind it in its aggregate wait.
    pub blocks: bool,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// When it was given up.
    pub dead_at: DateTime<Utc>,
}

impl PendingEvent {
    /// An event that has just got its position.
    pub(crate) fn at(position: Position, event: NewEvent, created_at: DateTime<Utc>) -> Self {
        let event = Envelope {
            id: event.id,
            position,
            aggregate: event.aggregate.to_owned(),
            key: event.key,
            topic: event.topic.to_owned(),
            payload: event.payload,
            headers: event.headers,
            occurred_at: event.occurred_at,
            ordered: event.ordered,
            attempts: 0,
        };
        Self::back(event, created_at)
    }

    /// An event that starts over.
    pub(super) fn back(event: Envelope, created_at: DateTime<Utc>) -> Self {
        Self {
            event: Envelope {
                attempts: 0,
                ..event
            },
            created_at,
            crashes: 0,
            retry_at: None,
            last_error: None,
        }
    }

    /// The event as a fetch returns it.
    pub(super) fn row(&self, now: DateTime<Utc>, inline_bytes: usize) -> Row {
        let event = &self.event;
        let size = event.payload.len() + event.headers.len();
        let mut row = Row::new(super::SHARD, event.position, event.id);
        row.aggregate.clone_from(&event.aggregate);
        row.key.clone_from(&event.key);
        row.topic.clone_from(&event.topic);
        row.ordered = event.ordered;
        row.attempts = event.attempts;
        row.crashes = self.crashes;
        row.retry_in = self.retry_at.map(|time| super::clock::until(now, time));
        row.size = size;
        row.body = (size <= inline_bytes).then(|| {
            Body::new(
                event.payload.clone(),
                event.headers.clone(),
                event.occurred_at,
            )
        });
        row
    }
}
