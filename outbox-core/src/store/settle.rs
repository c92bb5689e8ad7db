use super::{Owned, Position};
use std::{fmt, time::Duration};
use uuid::Uuid;

/// The outcomes of one shard, in the order they arose.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcomes {
    /// The shard, as it was won.
    pub owned: Owned,
    /// What to write.
    pub settlements: Vec<Settlement>,
}

impl Outcomes {
    /// Outcomes of this shard.
    #[must_use]
    pub fn new(owned: Owned, settlements: Vec<Settlement>) -> Self {
        Self { owned, settlements }
    }
}

/// The outcome of one delivery, to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settlement {
    /// The event's position.
    pub position: Position,
    /// The event's id: a position alone could be another event after a restore.
    pub id: Uuid,
    /// What to write.
    pub verdict: Verdict,
}

impl Settlement {
    /// The outcome of an event.
    #[must_use]
    pub fn new(position: Position, id: Uuid, verdict: Verdict) -> Self {
        Self {
            position,
            id,
            verdict,
        }
    }
}

/// What becomes of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was handled: it leaves the outbox.
    Done,
    /// It failed and keeps its place; `crashes` starts over. Written twice, because the first answer
    /// was lost, it is written once.
    Retry {
        /// How many deliveries have failed by now.
        attempts: u32,
        /// The earliest next attempt, from now by the database's clock.
        after: Duration,
        /// The error, as it will be stored.
        error: String,
    },
    /// It is given up: it moves to the dead letters; `attempts` grows by one unless it crashed.
    Dead {
        /// Why.
        reason: DeadReason,
        /// The last error, as it will be stored.
        error: String,
        /// Whether the events behind it in its aggregate wait for an operator.
        blocks: bool,
    },
}

/// Why an event became a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeadReason {
    /// All attempts failed.
    Exhausted,
    /// The handler said that no further attempt will help.
    Rejected,
    /// Delivering the event brought the process down, again and again.
    Crashed,
    /// And an operator has skipped it since.
    Skipped,
}

impl DeadReason {
    /// The word that is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Rejected => "rejected",
            Self::Crashed => "crashed",
            Self::Skipped => "skipped",
        }
    }
}

impl fmt::Display for DeadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a settle did in one shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// Everything was written. Events with a retry or dead letter that were no longer there are
    /// listed: somebody else has settled them.
    Written {
        /// Their positions.
        gone: Vec<Position>,
    },
    /// The shard is not the member's any more: nothing of it was written.
    Lost,
}

/// What the mover did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// This many delayed events got their positions.
    Events(usize),
    /// The shard is not the member's any more.
    Lost,
}

/// What happens to delivered events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum History {
    /// A row goes to the history, in the statement that deletes the event.
    #[default]
    Keep,
    /// Nothing is kept.
    Discard,
}
