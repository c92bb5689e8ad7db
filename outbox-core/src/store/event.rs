use super::{Epoch, MemberId, Shard};
use crate::envelope::Envelope;
use chrono::{DateTime, Utc};
use std::time::Duration;
use uuid::Uuid;

/// An event's place in the outbox: starts at 1, never used twice.
pub type Position = i64;

/// What to read.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FetchRequest<'a> {
    /// The reader; a shard it does not own is not read.
    pub member: MemberId,
    /// The shards, and where to read them from.
    pub cursors: &'a [Cursor],
    /// Payloads up to this many bytes come along; longer ones are read when they are needed.
    pub inline_bytes: usize,
}

impl<'a> FetchRequest<'a> {
    /// Reads these shards.
    #[must_use]
    pub fn new(member: MemberId, cursors: &'a [Cursor], inline_bytes: usize) -> Self {
        Self {
            member,
            cursors,
            inline_bytes,
        }
    }
}

/// Where to read a shard from: what there is in `(floor, scan]`, then on from `scan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cursor {
    /// Which shard.
    pub shard: Shard,
    /// The epoch of the reader's ownership.
    pub epoch: Epoch,
    /// Below and at this position nothing can appear any more.
    pub floor: Position,
    /// Up to here the shard has been read before.
    pub scan: Position,
    /// How many events beyond it to read at most.
    pub limit: usize,
}

impl Cursor {
    /// Reads this many events from the start of a shard.
    #[must_use]
    pub fn new(shard: Shard, epoch: Epoch, limit: usize) -> Self {
        Self {
            shard,
            epoch,
            floor: 0,
            scan: 0,
            limit,
        }
    }
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Fetched {
    /// The shards that were read; one that is missing is not the reader's any more.
    pub shards: Vec<Seen>,
    /// Where there are events in `(floor, scan]`, whatever the limit, in order within a shard: what
    /// was read before, and what has committed late. The latter is read by position.
    pub again: Vec<(Shard, Position)>,
    /// The events beyond `scan`, in position order within a shard.
    pub rows: Vec<Row>,
    /// What the snapshot proves about positions that were not seen.
    pub horizon: Horizon,
}

impl Fetched {
    /// What was read in one snapshot.
    #[must_use]
    pub fn new(
        shards: Vec<Seen>,
        again: Vec<(Shard, Position)>,
        rows: Vec<Row>,
        horizon: Horizon,
    ) -> Self {
        Self {
            shards,
            again,
            rows,
            horizon,
        }
    }
}

/// A shard as a fetch saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// Which shard.
    pub shard: Shard,
    /// Changes when an operator brings back or removes events, or pauses or resumes a topic: what
    /// was read is stale then.
    pub revision: i64,
    /// How long until the next delayed event of the shard falls due; zero when one is.
    pub due_in: Option<Duration>,
}

impl Seen {
    /// A shard as a fetch saw it.
    #[must_use]
    pub fn new(shard: Shard, revision: i64, due_in: Option<Duration>) -> Self {
        Self {
            shard,
            revision,
            due_in,
        }
    }
}

/// What a fetch proves about positions that it did not see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Horizon {
    /// Nothing: a lower position may still commit.
    #[default]
    Open,
    /// Positions commit in order: nothing can appear at or below what was read.
    CommitOrder,
    /// Transactions have ids, handed out in order and before a transaction's first position.
    Transactions {
        /// The next id to be handed out, read in the fetch: whoever holds a position that the
        /// fetch could have seen has a lower one.
        next: u64,
        /// The lowest id that was still running in the fetch's snapshot.
        oldest: u64,
    },
    /// No transaction stays open for longer than this between getting a position and committing.
    Within(Duration),
}

/// An event as it was read for delivery.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The event's shard.
    pub shard: Shard,
    /// Its position.
    pub position: Position,
    /// Its id.
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
    /// How many owners died while the event may have been in work, since its last outcome.
    pub crashes: u32,
    /// How long until the next attempt, where one has failed.
    pub retry_in: Option<Duration>,
    /// The size of payload and headers in bytes.
    pub size: usize,
    /// Payload and headers, unless they were too long to come along.
    pub body: Option<Body>,
    /// Why the row cannot be read, where a foreign writer stored what is no event.
    pub fault: Option<String>,
}

/// The part of an event that may be large.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Body {
    /// The payload: JSON text.
    pub payload: String,
    /// The headers: the text of a JSON object.
    pub headers: String,
    /// When the thing happened.
    pub occurred_at: DateTime<Utc>,
}

impl Body {
    /// A body as it was read.
    #[must_use]
    pub fn new(payload: String, headers: String, occurred_at: DateTime<Utc>) -> Self {
        Self {
            payload,
            headers,
            occurred_at,
        }
    }
}

impl Row {
    /// A row of this shard, position and id; the rest is set field by field.
    #[must_use]
    pub fn new(shard: Shard, position: Position, id: Uuid) -> Self {
        Self {
            shard,
            position,
            id,
            aggregate: String::new(),
            key: None,
            topic: String::new(),
            ordered: true,
            attempts: 0,
            crashes: 0,
            retry_in: None,
            size: 0,
            body: None,
            fault: None,
        }
    }

    /// The whole event.
    pub(crate) fn into_envelope(self, body: Body) -> Envelope {
        Envelope {
            id: self.id,
            position: self.position,
            aggregate: self.aggregate,
            key: self.key,
            topic: self.topic,
            payload: body.payload,
            headers: body.headers,
            occurred_at: body.occurred_at,
            ordered: self.ordered,
            attempts: self.attempts,
        }
    }
}
