use super::{
    config::{OnDead, TopicConfig},
    route::{Call, Typed},
};
use crate::{event::Topic, handler::Handler, retry::RetryPolicy};
use std::time::Duration;

/// The handler and the options of one topic.
#[must_use]
pub struct TopicOptions<T> {
    pub(super) topic: Topic<T>,
    pub(super) options: Overrides,
    pub(super) call: Option<Box<dyn Call>>,
}

impl<T: Send + 'static> TopicOptions<T> {
    /// Handles the topic's events.
    pub fn handler(mut self, handler: impl Handler<T>) -> Self {
        self.call = Some(Box::new(Typed {
            topic: self.topic,
            handler,
        }));
        self
    }

    /// How many of the topic's handlers run at once.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.options.concurrency = Some(concurrency);
        self
    }

    /// How long one delivery may take. The handler is dropped at its next await then, and the
    /// event is tried again.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// When a failed event is tried again.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.options.retry = Some(policy);
        self
    }

    /// What a dead letter does to the later events of its aggregate.
    pub fn on_dead(mut self, on_dead: OnDead) -> Self {
        self.options.on_dead = Some(on_dead);
        self
    }
}

/// What a topic sets; the rest is the dispatcher's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Overrides {
    concurrency: Option<usize>,
    timeout: Option<Duration>,
    retry: Option<RetryPolicy>,
    on_dead: Option<OnDead>,
}

impl Overrides {
    pub(super) fn over(self, defaults: TopicConfig) -> TopicConfig {
        TopicConfig {
            concurrency: self.concurrency.unwrap_or(defaults.concurrency),
            timeout: self.timeout.unwrap_or(defaults.timeout),
            retry: self.retry.unwrap_or(defaults.retry),
            on_dead: self.on_dead.or(defaults.on_dead),
        }
    }
}
