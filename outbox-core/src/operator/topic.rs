use super::{Operator, OperatorStore};
use crate::{
    emit::Limits,
    store::{StoreError, StoreErrorKind},
};
use chrono::{DateTime, Utc};

/// A topic that stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PausedTopic {
    /// The topic's name.
    pub topic: String,
    /// Who paused it.
    pub who: String,
    /// Why.
    pub why: String,
    /// Since when.
    pub since: DateTime<Utc>,
}

impl PausedTopic {
    /// A topic that was paused at a time.
    #[must_use]
    pub fn new(topic: String, who: String, why: String, since: DateTime<Utc>) -> Self {
        Self {
            topic,
            who,
            why,
            since,
        }
    }
}

/// Topics.
impl<S: OperatorStore> Operator<S> {
    /// Stops a topic for all dispatchers, within a poll interval, and for those that start later.
    /// What is in work comes to its end. Events of other topics go on, unless they stand behind one
    /// of this topic in their aggregate. Returns whether it was running; pausing again changes
    /// nothing.
    ///
    /// # Errors
    /// When no topic can have that name, or the database cannot do it; then nothing is done.
    pub async fn pause(&self, topic: &str, why: &str) -> Result<bool, StoreError> {
        if !Limits::is_name(topic) {
            let most = Limits::NAME_BYTES;
            let source = format!("a topic's name has 1 to {most} bytes and no NUL");
            let refused = StoreErrorKind::Refused;
            return Err(StoreError::new(refused, "pausing a topic", source));
        }
        self.store.pause(topic, true, &self.by(why)).await
    }

    /// Lets a topic go on, within a poll interval. Returns whether it was paused.
    ///
    /// # Errors
    /// When the database cannot do it; then nothing is done.
    pub async fn resume(&self, topic: &str, why: &str) -> Result<bool, StoreError> {
        let resumed = self.store.pause(topic, false, &self.by(why)).await?;
        self.store.wake().notify();
        Ok(resumed)
    }

    /// The topics that are paused, by name.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn paused(&self) -> Result<Vec<PausedTopic>, StoreError> {
        self.store.paused_topics().await
    }
}
