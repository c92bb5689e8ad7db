use super::Count;
use crate::store::{MemberId, Position, Shard};
use chrono::{DateTime, Utc};
use std::fmt;
use uuid::Uuid;

/// The state of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EventState {
    /// Waits for its first delivery.
    Pending,
    /// Has failed and is tried again.
    Retrying,
    /// Waits behind a dead letter of its aggregate.
    Blocked,
    /// Is not due yet.
    Scheduled,
    /// Is not tried any more.
    Dead,
    /// Was delivered.
    Delivered,
}

impl EventState {
    /// The word for it, as the status view has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Retrying => "retrying",
            Self::Blocked => "blocked",
            Self::Scheduled => "scheduled",
            Self::Dead => "dead",
            Self::Delivered => "delivered",
        }
    }
}

impl fmt::Display for EventState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What became of an event: the same as the status view tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EventStatus {
    /// The event's id.
    pub id: Uuid,
    /// Its place in the outbox; none before it is due.
    pub position: Option<Position>,
    /// The kind of aggregate.
    pub aggregate: String,
    /// The aggregate's key.
    pub key: Option<String>,
    /// The topic's name.
    pub topic: String,
    /// Its state.
    pub state: EventState,
    /// How many deliveries have come to an end: those that failed, and the one that succeeded.
    pub attempts: u32,
    /// When it is tried next, where that is known.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// When it was delivered.
    pub sent_at: Option<DateTime<Utc>>,
}

impl EventStatus {
    /// An event of this id and state; the rest is set field by field.
    #[must_use]
    pub fn new(id: Uuid, state: EventState) -> Self {
        Self {
            id,
            position: None,
            aggregate: String::new(),
            key: None,
            topic: String::new(),
            state,
            attempts: 0,
            next_attempt_at: None,
            last_error: None,
            created_at: DateTime::UNIX_EPOCH,
            sent_at: None,
        }
    }
}

/// How many events of a topic are in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicCount {
    /// The topic's name.
    pub topic: String,
    /// The state; events that wait behind a dead letter are pending here.
    pub state: EventState,
    /// How many.
    pub count: Count,
}

impl TopicCount {
    /// So many events of a topic in a state.
    #[must_use]
    pub fn new(topic: String, state: EventState, count: Count) -> Self {
        Self {
            topic,
            state,
            count,
        }
    }
}

/// A dispatcher as its row tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DispatcherView {
    /// Its id, new at each registration.
    pub id: MemberId,
    /// Where it runs: `host:pid`.
    pub place: String,
    /// The topics it handles.
    pub handles: String,
    /// When it registered.
    pub joined_at: DateTime<Utc>,
    /// Whether its lease runs.
    pub is_alive: bool,
    /// The shards it owns.
    pub shards: Vec<Shard>,
}

impl DispatcherView {
    /// A dispatcher of this id; the rest is set field by field.
    #[must_use]
    pub fn new(id: MemberId) -> Self {
        Self {
            id,
            place: String::new(),
            handles: String::new(),
            joined_at: DateTime::UNIX_EPOCH,
            is_alive: false,
            shards: Vec::new(),
        }
    }
}
