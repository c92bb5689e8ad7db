use super::{MemberId, Position};

/// One of the parts that the aggregates are divided into by hash.
pub type Shard = i16;

/// Counts the owners a shard has had; with the position it is a fencing token.
pub type Epoch = i64;

/// A shard row as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardView {
    /// Which shard.
    pub shard: Shard,
    /// The epoch at the time of reading.
    pub epoch: Epoch,
    /// Its owner, alive or not.
    pub owner: Option<MemberId>,
    /// Whether the owner has a member row.
    pub held: bool,
}

impl ShardView {
    /// A row as it was read.
    #[must_use]
    pub fn new(shard: Shard, epoch: Epoch, owner: Option<MemberId>, held: bool) -> Self {
        Self {
            shard,
            epoch,
            owner,
            held,
        }
    }
}

/// A shard that was won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owned {
    /// Which shard.
    pub shard: Shard,
    /// The epoch of this ownership.
    pub epoch: Epoch,
    /// Events up to here may have been in work when the former owner died; 0 after a clean change.
    pub suspect_to: Position,
}

impl Owned {
    /// A shard won at this epoch.
    #[must_use]
    pub fn new(shard: Shard, epoch: Epoch, suspect_to: Position) -> Self {
        Self {
            shard,
            epoch,
            suspect_to,
        }
    }
}

/// A dead letter that holds back its aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocked {
    /// The shard it is in.
    pub shard: Shard,
    /// The dead letter's position.
    pub position: Position,
    /// The kind of aggregate.
    pub aggregate: String,
    /// The aggregate's key.
    pub key: Option<String>,
}

impl Blocked {
    /// A blocking dead letter.
    #[must_use]
    pub fn new(shard: Shard, position: Position, aggregate: String, key: Option<String>) -> Self {
        Self {
            shard,
            position,
            aggregate,
            key,
        }
    }
}
