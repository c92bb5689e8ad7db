use super::Count;
use crate::store::Position;
use chrono::{DateTime, Utc};
use uuid::Uuid;

/// A dead letter: an event that is not tried any more.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Letter {
    /// The event's place in the outbox, by which verbs name it.
    pub position: Position,
    /// The event's id.
    pub id: Uuid,
    /// The kind of aggregate.
    pub aggregate: String,
    /// The aggregate's key.
    pub key: Option<String>,
    /// The topic's name.
    pub topic: String,
    /// Whether the event keeps its place among those of its aggregate.
    pub ordered: bool,
    /// How many deliveries have failed.
    pub attempts: u32,
    /// Why it was given up: a [`DeadReason`](crate::store::DeadReason) as it was stored.
    pub reason: String,
    /// The last error.
    pub error: String,
    /// Whether the events behind it in its aggregate wait.
    pub blocks: bool,
    /// When the event was written.
    pub created_at: DateTime<Utc>,
    /// When it was given up.
    pub dead_at: DateTime<Utc>,
}

impl Letter {
    /// A letter of this position and id; the rest is set field by field.
    #[must_use]
    pub fn new(position: Position, id: Uuid) -> Self {
        Self {
            position,
            id,
            aggregate: String::new(),
            key: None,
            topic: String::new(),
            ordered: true,
            attempts: 0,
            reason: String::new(),
            error: String::new(),
            blocks: false,
            created_at: DateTime::UNIX_EPOCH,
            dead_at: DateTime::UNIX_EPOCH,
        }
    }
}

/// A dead letter with its content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LetterDetail {
    /// What is listed of it.
    pub letter: Letter,
    /// The payload: JSON text.
    pub payload: String,
    /// The headers: the text of a JSON object.
    pub headers: String,
}

impl LetterDetail {
    /// A letter and its content.
    #[must_use]
    pub fn new(letter: Letter, payload: String, headers: String) -> Self {
        Self {
            letter,
            payload,
            headers,
        }
    }
}

/// An aggregate whose events wait for an operator.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BlockedAggregate {
    /// The dead letter that holds it back.
    pub letter: Letter,
    /// How many events wait behind it.
    pub waiting: Count,
}

impl BlockedAggregate {
    /// A letter that blocks, and what waits behind.
    #[must_use]
    pub fn new(letter: Letter, waiting: Count) -> Self {
        Self { letter, waiting }
    }
}
