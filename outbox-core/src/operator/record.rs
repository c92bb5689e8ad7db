use crate::store::Position;
use chrono::{DateTime, Utc};
use uuid::Uuid;

/// What an operator did, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The record's id, a UUIDv7.
    pub id: Uuid,
    /// What was done: `retry`, `skip`, `discard`, `pause`, `resume`, `cancel`, `reschedule`,
    /// `replay`.
    pub act: String,
    /// Who did it.
    pub who: String,
    /// Why.
    pub why: String,
    /// The topic it was done with.
    pub topic: Option<String>,
    /// The event it was done with.
    pub event: Option<Uuid>,
    /// Where that event stood; of a replay, how far it has come in the history.
    pub position: Option<Position>,
    /// How many events it was done with.
    pub events: u64,
    /// When; of a replay, when it went on last.
    pub done_at: DateTime<Utc>,
}

impl Operation {
    /// A record with this id, of an act; the rest is set field by field.
    #[must_use]
    pub fn new(id: Uuid, act: impl Into<String>) -> Self {
        Self {
            id,
            act: act.into(),
            who: String::new(),
            why: String::new(),
            topic: None,
            event: None,
            position: None,
            events: 1,
            done_at: DateTime::UNIX_EPOCH,
        }
    }
}
