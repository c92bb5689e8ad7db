use super::{
    DispatcherView, EventFilter, EventStatus, Operator, OperatorStore, Page, Span, TopicCount,
    handle::PAGE,
};
use crate::store::{Liveness, Position, StoreError};
use std::time::Duration;
use uuid::Uuid;

/// Questions. None of them looks at more than some ten thousand rows, whatever the size of the
/// tables.
impl<S: OperatorStore> Operator<S> {
    /// What became of an event: whether it was sent, how often it was tried, when it is tried next,
    /// and the last error. More than one answer means that it was replayed; none, that it never
    /// committed, was discarded, or that its history is gone.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn status(&self, id: Uuid) -> Result<Vec<EventStatus>, StoreError> {
        self.store.status(id).await
    }

    /// How many events there are, by topic and state: exact up to ten thousand rows of a table,
    /// estimated beyond.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn counts(&self) -> Result<Vec<TopicCount>, StoreError> {
        self.store.counts().await
    }

    /// The event that has waited longest for its delivery, and for how long since it was written;
    /// of a delayed event, its delay counts.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn oldest(&self) -> Result<Option<(EventStatus, Duration)>, StoreError> {
        self.store.oldest().await
    }

    /// The events that wait and of which more than so many deliveries have failed, by position.
    /// Start `after` 0, and go on after the page's `next`.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn failing(
        &self,
        filter: &EventFilter,
        attempts: u32,
        after: Position,
    ) -> Result<Page<EventStatus>, StoreError> {
        let span = Span::new(after, PAGE);
        self.store.failing(filter, attempts, span).await
    }

    /// The dispatchers, where they run, whether they are alive, and what they own.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn dispatchers(&self) -> Result<Vec<DispatcherView>, StoreError> {
        let mut dispatchers = self.store.dispatchers().await?;
        let members = self.store.members().await?;
        let shards = self.store.shards().await?;
        for dispatcher in &mut dispatchers {
            let mut rows = members.iter();
            let row = rows.find(|row| row.id == dispatcher.id);
            dispatcher.is_alive = row.is_some_and(|row| row.liveness == Liveness::Alive);
            let owned = shards.iter().filter(|row| row.owner == Some(dispatcher.id));
            dispatcher.shards = owned.map(|row| row.shard).collect();
        }
        Ok(dispatchers)
    }
}
