use super::{Archive, Config, DispatcherBuilder};
use crate::{
    retry::RetryPolicy,
    store::{History, Store},
};
use std::{sync::Arc, time::Duration};

/// Settings.
impl<S: Store> DispatcherBuilder<S> {
    /// How many handlers run at once, all topics together.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.config.concurrency = concurrency;
        self
    }

    /// How long one delivery may take, for topics that do not say.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.topic.timeout = timeout;
        self
    }

    /// When failed events are tried again, for topics that do not say.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.config.topic.retry = policy;
        self
    }

    /// How long a dispatcher that died keeps its events from others.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.config.lease = lease;
        self
    }

    /// How long running handlers may finish at a shutdown.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.config.grace = grace;
        self
    }

    /// What happens to delivered events.
    pub fn history(mut self, history: History) -> Self {
        self.config.history = history;
        self
    }

    /// How long delivered events are kept in the history: 30 days unless it is said here.
    pub fn keep_history(mut self, age: Duration) -> Self {
        self.config.retention.delivered = Some(age);
        self
    }

    /// Gets delivered events before they are deleted from the history: see [`Archive`].
    pub fn archive(mut self, archive: impl Archive) -> Self {
        self.config.retention.archive = Some(Arc::new(archive));
        self
    }

    /// Sees the whole text of each error and says what is stored of it.
    pub fn redact(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.config.redact = Arc::new(redact);
        self
    }

    /// Changes any setting.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }
}
