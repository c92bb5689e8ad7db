//! What people need of an outbox: dead letters, paused topics, delayed events, replays, answers to
//! questions, and who decided what.
//!
//! [`Operator`] is what a program uses; [`OperatorStore`] is what a database provides for it,
//! beside [`Store`], which is for dispatchers.

mod act;
mod page;
mod count;
mod filter;
mod letter;
mod record;
mod bulk;
mod handle;
mod letters;
mod topic;
mod delayed;
mod replay;
mod state;
mod questions;

pub use act::{Act, Answer, By};
pub use bulk::{Bulk, BulkDone};
pub use count::Count;
pub use delayed::Scheduled;
pub use filter::{EventFilter, Filter, HistoryFilter, LetterFilter, OfHistory, OfLetters};
pub use handle::Operator;
pub use letter::{BlockedAggregate, Letter, LetterDetail};
pub use page::{Page, SCAN, Span};
pub use record::Operation;
pub use replay::Replayed;
pub use state::{DispatcherView, EventState, EventStatus, TopicCount};
pub use topic::PausedTopic;

use crate::{
    emit::Due,
    store::{Position, Store, StoreError},
};
use std::{future::Future, time::Duration};
use uuid::Uuid;

/// A database that keeps events, as people see it.
///
/// Verbs that change something write down who did it and why, in the same transaction; called
/// again they find what the first call did. Whoever has read a shard learns of the change by the
/// shard's revision. Rows of events and letters are locked by position, then the shards' rows.
///
/// A question looks at [`SCAN`] rows at most, by key, whatever the size of the tables.
pub trait OperatorStore: Store {
    /// The dead letters within `span` that match, by position.
    fn letters(
        &self,
        filter: &LetterFilter,
        span: Span,
    ) -> impl Future<Output = Result<Page<Letter>, StoreError>> + Send;

    /// One dead letter with its content.
    fn letter(
        &self,
        position: Position,
    ) -> impl Future<Output = Result<Option<LetterDetail>, StoreError>> + Send;

    /// Does the same with each of these letters (or events), in one transaction. Returns the
    /// positions of those that were there.
    fn act(
        &self,
        act: Act,
        positions: &[Position],
        by: &By,
    ) -> impl Future<Output = Result<Vec<Position>, StoreError>> + Send;

    /// The dead letters within `span` that hold back their aggregates, with what waits behind.
    fn blocked_aggregates(
        &self,
        span: Span,
    ) -> impl Future<Output = Result<Page<BlockedAggregate>, StoreError>> + Send;

    /// Pauses or resumes a topic; `false` when it was so already. A change raises the revision of
    /// every shard.
    fn pause(
        &self,
        topic: &str,
        pause: bool,
        by: &By,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The topics that are paused, by name.
    fn paused_topics(&self) -> impl Future<Output = Result<Vec<PausedTopic>, StoreError>> + Send;

    /// The delayed events within `span` that match, by id.
    fn scheduled(
        &self,
        filter: &EventFilter,
        span: Span<Uuid>,
    ) -> impl Future<Output = Result<Page<Scheduled, Uuid>, StoreError>> + Send;

    /// Deletes a delayed event; `false` when it has moved, or never was.
    fn cancel(&self, id: Uuid, by: &By) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Changes when a delayed event falls due; `false` when it has moved, or never was.
    fn reschedule(
        &self,
        id: Uuid,
        due: Due,
        by: &By,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Goes on with a replay where its record says that it stands, or starts it: up to `limit`
    /// events, as long as there are not `most` in all.
    fn replay(
        &self,
        replay: Uuid,
        filter: &HistoryFilter,
        most: u64,
        limit: usize,
        by: &By,
    ) -> impl Future<Output = Result<Replayed, StoreError>> + Send;

    /// What became of an event.
    fn status(&self, id: Uuid)
    -> impl Future<Output = Result<Vec<EventStatus>, StoreError>> + Send;

    /// How many events there are, by topic and state.
    fn counts(&self) -> impl Future<Output = Result<Vec<TopicCount>, StoreError>> + Send;

    /// The first of the events that wait, and for how long it has.
    fn oldest(
        &self,
    ) -> impl Future<Output = Result<Option<(EventStatus, Duration)>, StoreError>> + Send;

    /// The events within `span` that match and have failed more than so many times.
    fn failing(
        &self,
        filter: &EventFilter,
        attempts: u32,
        span: Span,
    ) -> impl Future<Output = Result<Page<EventStatus>, StoreError>> + Send;

    /// The rows of the dispatchers, without what [`Store::members`] and [`Store::shards`] tell.
    fn dispatchers(&self) -> impl Future<Output = Result<Vec<DispatcherView>, StoreError>> + Send;

    /// What operators did, the latest first, before the record with the id `before`.
    fn operations(
        &self,
        before: Option<Uuid>,
        most: usize,
    ) -> impl Future<Output = Result<Page<Operation, Uuid>, StoreError>> + Send;
}
