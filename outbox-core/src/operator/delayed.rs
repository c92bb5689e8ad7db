use super::{Answer, EventFilter, Operator, OperatorStore, Page, Span, handle::PAGE};
use crate::{emit::Due, store::StoreError};
use chrono::{DateTime, Utc};
use uuid::Uuid;

/// An event that is not due yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scheduled {
    /// The event's id, by which verbs name it.
    pub id: Uuid,
    /// The kind of aggregate.
    pub aggregate: String,
    /// The aggregate's key.
    pub key: Option<String>,
    /// The topic's name.
    pub topic: String,
    /// When it falls due.
    pub due_at: DateTime<Utc>,
    /// When it was written.
    pub created_at: DateTime<Utc>,
}

impl Scheduled {
    /// An event of this id; the rest is set field by field.
    #[must_use]
    pub fn new(id: Uuid) -> Self {
        Self {
            id,
            aggregate: String::new(),
            key: None,
            topic: String::new(),
            due_at: DateTime::UNIX_EPOCH,
            created_at: DateTime::UNIX_EPOCH,
        }
    }
}

/// Delayed events.
impl<S: OperatorStore> Operator<S> {
    /// The events that match and are not due yet, by id, which is the order in which they were
    /// written. Start `after` the nil id, and go on after the page's `next`.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn scheduled(
        &self,
        filter: &EventFilter,
        after: Uuid,
    ) -> Result<Page<Scheduled, Uuid>, StoreError> {
        self.store.scheduled(filter, Span::new(after, PAGE)).await
    }

    /// Deletes an event before it falls due. [`Answer::TooLate`] once it has got its place in the
    /// outbox.
    ///
    /// # Errors
    /// When the database cannot do it; then nothing is done.
    pub async fn cancel(&self, id: Uuid, why: &str) -> Result<Answer, StoreError> {
        let cancelled = self.store.cancel(id, &self.by(why)).await?;
        Ok(Answer::of(cancelled))
    }

    /// Lets an event fall due at another time, by the database's clock: 100 years from now at most, or
    /// in the year 9999. [`Answer::TooLate`] once it has got its place in the outbox.
    ///
    /// # Errors
    /// When the database cannot do it; then nothing is done.
    pub async fn reschedule(&self, id: Uuid, due: Due, why: &str) -> Result<Answer, StoreError> {
        let by = self.by(why);
        let moved = self.store.reschedule(id, due.storable(), &by).await?;
        self.store.wake().notify();
        Ok(Answer::of(moved))
    }
}
