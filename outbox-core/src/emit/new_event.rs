use super::{Dedupe, Limits};
use crate::instant;
use chrono::{DateTime, Utc};
use std::time::Duration;
use uuid::Uuid;

/// An event that has passed every check, ready to be written: one row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewEvent {
    /// The event's id, a UUIDv7: the consumers' idempotency key.
    pub id: Uuid,
    /// The kind of aggregate.
    pub aggregate: &'static str,
    /// The aggregate's key; an unordered event may have none.
    pub key: Option<String>,
    /// The topic's name.
    pub topic: &'static str,
    /// The payload: JSON text.
    pub payload: String,
    /// The headers: the text of a JSON object.
    pub headers: String,
    /// When the thing happened.
    pub occurred_at: DateTime<Utc>,
    /// Whether the event keeps its place among those of its aggregate.
    pub ordered: bool,
    /// When the event is to be delivered.
    pub due: Due,
    /// How it is known that it was emitted before.
    pub dedupe: Option<Dedupe>,
}

/// When an event is to be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// As soon as its transaction has committed.
    Now,
    /// This long after the database writes it, by the database's clock.
    After(Duration),
    /// At this time, by the database's clock.
    At(DateTime<Utc>),
}

impl Due {
    /// The nearest that every database can keep: within 100 years from now, or the years 1 to 9999.
    pub(crate) fn storable(self) -> Self {
        match self {
            Self::Now => self,
            Self::After(delay) => Self::After(delay.min(Limits::LONGEST)),
            Self::At(time) => Self::At(instant::storable(time)),
        }
    }
}
