//! What the dispatcher needs of a database.

mod ear;
mod error;
mod event;
mod kept;
mod member;
mod settle;
mod shard;
mod transactional;

pub use ear::Ear;
pub use error::{StoreError, StoreErrorKind};
pub use event::{Body, Cursor, FetchRequest, Fetched, Horizon, Position, Row, Seen};
pub use kept::{Delivered, Kept};
pub use member::{Liveness, Member, MemberId, MemberView};
pub use settle::{DeadReason, History, Moved, Outcomes, Settled, Settlement, Verdict};
pub use shard::{Blocked, Epoch, Owned, Shard, ShardView};
pub use transactional::{Claim, Completion, Room, TransactionalStore};

use crate::wake::Wake;
use std::{future::Future, num::NonZeroUsize, time::Duration};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A database that keeps events, as the dispatcher sees it.
///
/// Ownership is of shards, never of single events. A dispatcher's *lease* is the existence of its
/// member row; taking a shard raises the shard's *epoch*, and every statement that a former owner
/// must not win is *fenced*: it locks the shard's row and does nothing when owner or epoch differ.
///
/// All times are the database's own; a store never compares them with the clock of this process.
/// Every verb is one statement or one short transaction, and may be called again after an error:
/// the second call finds what the first one did. No future of a store is dropped midway by the
/// dispatcher.
///
/// The conformance suite (`outbox-tests`) states the laws that each verb keeps.
pub trait Store: Clone + Send + Sync + 'static {
    /// Checks that the tables are there and as this version expects them.
    fn check(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Whether the database lives in this process and dies with it, so that a lease needs no
    /// connection and no thread of its own.
    fn in_process(&self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// A handle with a connection of its own, for the heartbeat's thread; awaited there.
    fn connect_apart(&self) -> impl Future<Output = Result<Self, StoreError>> + Send;

    /// Lets go of the connections that nobody uses: one of them was dead without anybody being told,
    /// and so these may be. The default is for stores that have none.
    fn let_go(&self) {}

    /// Told when something was emitted in this process.
    fn wake(&self) -> Wake;

    /// Tells the ear what other processes commit, until `stop`; or returns at once where it never
    /// can, which is the default. A hint, as [`wake`](Self::wake) is: what was missed is polled.
    fn listen(&self, ear: &Ear, stop: &CancellationToken) -> impl Future<Output = ()> + Send {
        let _ = (ear, stop);
        async {}
    }

    // Membership ------------------------------------------------------------------------------

    /// Writes this dispatcher's member row, its lease ending `lease` from now.
    fn join(
        &self,
        member: &Member,
        lease: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Extends the lease; `false` when the row is gone.
    fn renew(
        &self,
        member: MemberId,
        lease: Duration,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Writes into the member's row whether it sleeps: only then are commits to be heard of. The
    /// default is for stores that do not listen.
    fn set_sleeping(
        &self,
        member: MemberId,
        sleeping: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (member, sleeping);
        async { Ok(()) }
    }

    /// All member rows.
    fn members(&self) -> impl Future<Output = Result<Vec<MemberView>, StoreError>> + Send;

    /// Deletes a member's row if it is still exactly as it was seen; `false` if it is not.
    fn evict(&self, seen: &MemberView) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Gives up the member's shards and deletes its row, in this order.
    fn leave(&self, member: MemberId) -> impl Future<Output = Result<(), StoreError>> + Send;

    // Shards ----------------------------------------------------------------------------------

    /// All shards with their owners.
    fn shards(&self) -> impl Future<Output = Result<Vec<ShardView>, StoreError>> + Send;

    /// Takes shards by compare-and-set on what was seen, raising their epochs; returns those won.
    /// A shard whose owner has a member row is never taken; a member without a row takes nothing.
    ///
    /// After an error the shards may be the member's without its knowing: it releases what
    /// [`shards`](Self::shards) shows as its own and it did not win.
    fn take(
        &self,
        member: MemberId,
        seen: &[ShardView],
    ) -> impl Future<Output = Result<Vec<Owned>, StoreError>> + Send;

    /// Gives up shards, so that others may take them at once.
    fn release(
        &self,
        member: MemberId,
        owned: &[Owned],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The dead letters that hold back their aggregates in these shards.
    fn blocked(
        &self,
        shards: &[Shard],
    ) -> impl Future<Output = Result<Vec<Blocked>, StoreError>> + Send;

    /// The topics that an operator has paused. Whoever has read a shard learns of a change by the
    /// shard's revision.
    fn paused(&self) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    // Events ----------------------------------------------------------------------------------

    /// Reads events of the requested shards, as far as `member` owns them at the given epochs,
    /// in one snapshot and in position order within a shard. Writes nothing.
    fn fetch(
        &self,
        request: &FetchRequest<'_>,
    ) -> impl Future<Output = Result<Fetched, StoreError>> + Send;

    /// Reads events by position; those that are gone are left out. Payloads up to `inline_bytes`
    /// come along, as with a fetch: however many events are named, the reader knows how much memory
    /// they take.
    fn read(
        &self,
        positions: &[Position],
        inline_bytes: usize,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// Writes the outcomes of deliveries, all or none of a shard, and answers for each shard.
    /// Fenced, successes too: what a former owner has delivered and not written comes again, and
    /// everything behind it. If it were taken out while the owner repeats its predecessor, that
    /// repetition would be the last that the handlers see.
    fn settle(
        &self,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> impl Future<Output = Result<Vec<Settled>, StoreError>> + Send;

    /// How many [`settle`](Self::settle)s of different shards there may be at once: one, where writers
    /// stand in each other's way. While one waits for its commit to be on disk another can work.
    fn settles_at_once(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    /// Moves up to `limit` delayed events that are due into the outbox, in the order of their due
    /// times; they get their positions now. Fenced.
    fn move_due(
        &self,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> impl Future<Output = Result<Moved, StoreError>> + Send;

    /// Sets how many owners may have died with these events in work. Fenced; `false` when the
    /// shard is lost.
    fn mark_crashes(
        &self,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    // History ---------------------------------------------------------------------------------

    /// Deletes up to `limit` rows that have been kept for longer than `age`, the oldest first;
    /// returns how many.
    fn prune(
        &self,
        kept: Kept,
        age: Duration,
        limit: usize,
    ) -> impl Future<Output = Result<usize, StoreError>> + Send;

    /// Up to `limit` events that have been in the history for longer than `age`, the oldest first.
    fn expired(
        &self,
        age: Duration,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Delivered>, StoreError>> + Send;

    /// Deletes these events from the history; returns how many were there.
    fn forget(
        &self,
        events: &[(Position, Uuid)],
    ) -> impl Future<Output = Result<usize, StoreError>> + Send;
}
