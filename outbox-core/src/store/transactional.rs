use super::{History, MemberId, Owned, Position, Store, StoreError};
use std::{future::Future, time::Duration};
use uuid::Uuid;

/// A store in whose transactions handlers can work, so that what they write and the completion of
/// their event commit together.
///
/// An event is *claimed* by the lock on its row for as long as the transaction is open. The lock
/// tells others that somebody works on it; that nobody completes it after another has taken over
/// is the work of the fence, which [`complete`](Self::complete) locks last of all.
pub trait TransactionalStore: Store {
    /// A transaction, as handlers get it. Dropped, it is rolled back.
    type Transaction: Send + Sync + 'static;

    /// How many transactions of handlers there may be.
    fn room(&self) -> Room;

    /// Begins a transaction that claims the event; `None` when the event is not there or somebody
    /// else has claimed it. Does not wait for that one.
    fn claim(
        &self,
        claim: &Claim,
    ) -> impl Future<Output = Result<Option<Self::Transaction>, StoreError>> + Send;

    /// Moves the event out of the outbox and commits. Fenced: [`Completion::Lost`] when the shard
    /// is another's. What is not written is rolled back.
    ///
    /// After an error it may be committed or not: only a new look at the event tells.
    fn complete(
        &self,
        txn: Self::Transaction,
        claim: &Claim,
        history: History,
    ) -> impl Future<Output = Result<Completion, StoreError>> + Send;

    /// Rolls back. After an error the transaction may go on for as long as the database believes
    /// in its connection.
    fn roll_back(
        &self,
        txn: Self::Transaction,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// An event that is to be completed by its handler's transaction, and who owns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The dispatcher.
    pub member: MemberId,
    /// The event's shard, as it was won.
    pub owned: Owned,
    /// The event's position.
    pub position: Position,
    /// The event's id.
    pub id: Uuid,
    /// For how long its transaction may stand idle, where the database can end it then; `None` is
    /// for ever.
    pub idle: Option<Duration>,
}

impl Claim {
    /// The claim of the shard's owner on one of its events.
    #[must_use]
    pub fn new(member: MemberId, owned: Owned, position: Position, id: Uuid) -> Self {
        Self {
            member,
            owned,
            position,
            id,
            idle: None,
        }
    }

    /// The same, whose transaction the database ends when it stands idle for so long: a process that
    /// is frozen, or cut off, keeps the event from others until then.
    #[must_use]
    pub fn idle_for(self, idle: Duration) -> Self {
        let idle = Some(idle);
        Self { idle, ..self }
    }
}

/// What completing an event did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// Everything is committed.
    Written,
    /// The shard is not the member's any more: nothing was written.
    Lost,
    /// The event was not there, though it was claimed: nothing was written.
    Gone,
}

/// How many transactions of handlers a store has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Room {
    /// So many at once, at least one: the dispatcher itself needs connections too.
    pub at_once: usize,
    /// While one is open nobody else can write, and no lease can be renewed.
    pub exclusive: bool,
}

impl Room {
    /// Room in a pool of this many connections.
    #[must_use]
    pub fn in_pool(connections: u32) -> Self {
        let at_once = connections.saturating_sub(2).max(1);
        Self {
            at_once: usize::try_from(at_once).unwrap_or(usize::MAX),
            exclusive: false,
        }
    }

    /// Room for the only writer that there can be.
    #[must_use]
    pub fn exclusive() -> Self {
        Self {
            at_once: 1,
            exclusive: true,
        }
    }
}
