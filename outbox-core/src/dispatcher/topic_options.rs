use super::{
    batch::Batch,
    config::{OnDead, TopicConfig},
    route::{Target, Typed},
    transactional::InTransaction,
};
use crate::{
    event::Topic,
    handler::{BatchHandler, Handler, TransactionalHandler},
    retry::RetryPolicy,
    store::{Store, TransactionalStore},
};
use std::time::Duration;

/// The handler and the options of one topic. `S` is the store: what a transactional handler gets
/// depends on it.
#[must_use]
pub struct TopicOptions<T, S> {
    pub(super) topic: Topic<T>,
    pub(super) store: S,
    pub(super) options: Overrides,
    pub(super) target: Option<Target>,
}

impl<T: Send + 'static, S: Store> TopicOptions<T, S> {
    /// Handles the topic's events.
    pub fn handler(mut self, handler: impl Handler<T>) -> Self {
        self.target = Some(Target::Handler(Box::new(Typed {
            topic: self.topic,
            handler,
        })));
        self
    }

    /// Handles the topic's events inside the transactions that complete them: see
    /// [`TransactionalHandler`].
    pub fn transactional(mut self, handler: impl TransactionalHandler<T, S::Transaction>) -> Self
    where
        S: TransactionalStore,
    {
        self.target = Some(Target::Transactional(Box::new(InTransaction {
            room: self.store.room(),
            store: self.store.clone(),
            topic: self.topic,
            handler,
        })));
        self
    }

    /// Handles up to `size` of the topic's events at once: see [`BatchHandler`].
    pub fn batch(mut self, size: usize, handler: impl BatchHandler<T>) -> Self {
        self.target = Some(Target::Batch(Box::new(Batch {
            topic: self.topic,
            size,
            handler,
        })));
        self
    }

    /// How long a batch that is not full waits for more events: not at all, unless it is said here.
    /// It takes the place of a handler meanwhile.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.options.linger = Some(linger);
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
    linger: Option<Duration>,
}

impl Overrides {
    pub(super) fn over(self, defaults: TopicConfig) -> TopicConfig {
        TopicConfig {
            concurrency: self.concurrency.unwrap_or(defaults.concurrency),
            timeout: self.timeout.unwrap_or(defaults.timeout),
            retry: self.retry.unwrap_or(defaults.retry),
            on_dead: self.on_dead.or(defaults.on_dead),
            linger: self.linger.unwrap_or(defaults.linger),
        }
    }
}
