/// Which events are meant: all of them, but for what is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventFilter {
    /// Of this topic.
    pub topic: Option<String>,
    /// Of this kind of aggregate.
    pub aggregate: Option<String>,
    /// Of this aggregate's key.
    pub key: Option<String>,
}

impl EventFilter {
    /// All events.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

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

    /// Whether an event is one of them.
    #[must_use]
    pub fn matches(&self, topic: &str, aggregate: &str, key: Option<&str>) -> bool {
        let is = |wanted: &Option<String>, found| wanted.is_none() || wanted.as_deref() == found;
        is(&self.topic, Some(topic)) && is(&self.aggregate, Some(aggregate)) && is(&self.key, key)
    }
}
