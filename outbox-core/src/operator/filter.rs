use crate::instant;
use chrono::{DateTime, Utc};
use std::time::Duration;

/// Which events are meant: all of them, but for what is set. What only some events have is asked for
/// by `M`: see [`EventFilter`], [`LetterFilter`] and [`HistoryFilter`].
///
/// ```
/// use outbox_core::operator::{EventFilter, LetterFilter};
///
/// let waiting = EventFilter::all().topic("order.placed");
/// let timeouts = LetterFilter::all().topic("order.placed").error("timeout");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter<M = ()> {
    /// Of this topic.
    pub topic: Option<String>,
    /// Of this kind of aggregate.
    pub aggregate: Option<String>,
    /// Of this aggregate's key.
    pub key: Option<String>,
    /// And of which more is asked.
    pub more: M,
}

/// Which events are meant that are still to be delivered.
pub type EventFilter = Filter;

/// Which dead letters are meant: of those that nobody has skipped.
pub type LetterFilter = Filter<OfLetters>;

/// Which delivered events are meant.
pub type HistoryFilter = Filter<OfHistory>;

/// What is asked of dead letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OfLetters {
    /// Their last error has this text in it.
    pub error: Option<String>,
    /// They have been dead for so long.
    pub dead_for: Option<Duration>,
    /// An operator has skipped them. Otherwise nobody has: what was skipped is done with, and a retry
    /// of all would do it again.
    pub skipped: bool,
}

/// What is asked of delivered events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OfHistory {
    /// They were delivered at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// They were delivered before this time.
    pub until: Option<DateTime<Utc>>,
}

impl<M: Default> Filter<M> {
    /// All events.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }
}

impl<M> Filter<M> {
    /// Only those of this topic.
    #[must_use]
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// Only those of this kind of aggregate.
    #[must_use]
    pub fn aggregate(mut self, aggregate: impl Into<String>) -> Self {
        self.aggregate = Some(aggregate.into());
        self
    }

    /// Only those with this aggregate's key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Whether an event is one of them, as far as topic and aggregate say.
    #[must_use]
    pub fn matches(&self, topic: &str, aggregate: &str, key: Option<&str>) -> bool {
        let is = |wanted: &Option<String>, found| wanted.is_none() || wanted.as_deref() == found;
        is(&self.topic, Some(topic)) && is(&self.aggregate, Some(aggregate)) && is(&self.key, key)
    }
}

impl LetterFilter {
    /// Only those whose last error has this text in it.
    #[must_use]
    pub fn error(mut self, text: impl Into<String>) -> Self {
        self.more.error = Some(text.into());
        self
    }

    /// Only those that have been dead for so long, by the database's clock.
    #[must_use]
    pub fn dead_for(mut self, age: Duration) -> Self {
        self.more.dead_for = Some(age);
        self
    }

    /// Only those that an operator has skipped, which nobody else gets.
    #[must_use]
    pub fn skipped(mut self) -> Self {
        self.more.skipped = true;
        self
    }
}

impl HistoryFilter {
    /// Only those that were delivered at this time or later.
    #[must_use]
    pub fn since(mut self, time: DateTime<Utc>) -> Self {
        self.more.since = Some(time);
        self
    }

    /// Only those that were delivered before this time.
    #[must_use]
    pub fn until(mut self, time: DateTime<Utc>) -> Self {
        self.more.until = Some(time);
        self
    }

    /// The same, with times that a database can compare with its own.
    pub(super) fn storable(mut self) -> Self {
        self.more.since = self.more.since.map(instant::storable);
        self.more.until = self.more.until.map(instant::storable);
        self
    }
}
