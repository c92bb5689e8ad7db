use super::{
    Dispatcher, DispatcherHandle,
    config::{Config, TopicConfig, Unhandled},
    error::BuildError,
    registry,
    route::{Call, Raw, Route, Target},
    router::{Pattern, Router},
    topic_options::{Overrides, TopicOptions},
};
use crate::{
    envelope::Envelope,
    event::{Catalogue, OutboxEvent, Topic, TopicSpec},
    handler::{Handler, Publisher, State, TransactionalHandler},
    store::{Store, TransactionalStore},
};
use std::{any::Any, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Builds a [`Dispatcher`].
#[must_use = "a dispatcher does nothing until it is spawned or run"]
pub struct DispatcherBuilder<S> {
    store: S,
    pub(super) config: Config,
    state: State,
    /// The types whose topics it handles, and those that it was told of.
    declared: Catalogue,
    /// Whether it was told of all types.
    complete: bool,
    topics: Vec<TopicRoute>,
    /// Run for topics of a type that have no handler of their own.
    events: Vec<AddEvent>,
    raw: Vec<(String, Box<dyn Call>)>,
    publishers: Vec<(String, Arc<dyn Publisher>)>,
}

/// Adds the routes of an event type, once the topics with handlers of their own are there.
type AddEvent = Box<dyn FnOnce(&mut Router, TopicConfig) -> Result<(), BuildError> + Send>;

struct TopicRoute {
    spec: &'static TopicSpec,
    options: Overrides,
    target: Option<Target>,
}

impl<S: Store> DispatcherBuilder<S> {
    pub(super) fn new(store: S) -> Self {
        Self {
            store,
            config: Config::default(),
            state: None,
            declared: Catalogue::new(),
            complete: false,
            topics: Vec::new(),
            events: Vec::new(),
            raw: Vec::new(),
            publishers: Vec::new(),
        }
    }

    /// Handles the events of a topic.
    pub fn on<T: Send + 'static>(self, topic: Topic<T>, handler: impl Handler<T>) -> Self {
        self.topic(topic, |options| options.handler(handler))
    }

    /// Handles the events of a topic, with options.
    pub fn topic<T: Send + 'static>(
        mut self,
        topic: Topic<T>,
        configure: impl FnOnce(TopicOptions<T, S>) -> TopicOptions<T, S>,
    ) -> Self {
        let TopicOptions {
            topic,
            options,
            target,
            ..
        } = configure(TopicOptions {
            topic,
            store: self.store.clone(),
            options: Overrides::default(),
            target: None,
        });
        self.declared.add(*topic.contract());
        self.topics.push(TopicRoute {
            spec: topic.spec(),
            options,
            target,
        });
        self
    }

    /// Handles the events of a topic inside the transactions that complete them: see
    /// [`TransactionalHandler`].
    pub fn on_transactional<T: Send + 'static>(
        self,
        topic: Topic<T>,
        handler: impl TransactionalHandler<T, S::Transaction>,
    ) -> Self
    where
        S: TransactionalStore,
    {
        self.topic(topic, |options| options.transactional(handler))
    }

    /// Handles whatever topics of an event type have no handler of their own.
    pub fn on_event<E: OutboxEvent + Send + 'static>(mut self, handler: impl Handler<E>) -> Self {
        self.declared.add(E::CONTRACT);
        let handler = Arc::new(handler);
        self.events.push(Box::new(move |router, config| {
            registry::whole(router, config, &handler)
        }));
        self
    }

    /// Handles the events of a topic still encoded, whoever declares it.
    pub fn on_raw(mut self, topic: impl Into<String>, handler: impl Handler<Envelope>) -> Self {
        self.raw.push((topic.into(), Box::new(Raw(handler))));
        self
    }

    /// Forwards the events of all topics that match and have no handler of their own. A pattern is
    /// a topic, or a prefix with `*` at the end; the first that matches wins.
    pub fn forward(mut self, pattern: impl Into<String>, publisher: impl Publisher) -> Self {
        self.publishers.push((pattern.into(), Arc::new(publisher)));
        self
    }

    /// Tells the dispatcher of every type that is written to this outbox: a raw handler or a pattern
    /// for topics that none of them declares is a mistake then, and the topics of all types need a
    /// handler, as [`unhandled`](Self::unhandled) says.
    pub fn catalogue(mut self, catalogue: &Catalogue) -> Self {
        for contract in catalogue.contracts() {
            self.declared.add(*contract);
        }
        self.complete = true;
        self
    }

    /// What to do about topics that nobody handles, of the types that the dispatcher knows: those
    /// of which it handles a topic, and those of its [`catalogue`](Self::catalogue).
    pub fn unhandled(mut self, unhandled: Unhandled) -> Self {
        self.config.unhandled = unhandled;
        self
    }

    /// Gives handlers the application's state: see [`Delivery::state`](crate::Delivery::state).
    pub fn with_state<A: Any + Send + Sync>(mut self, state: A) -> Self {
        self.state = Some(Arc::new(state));
        self
    }

    /// The finished dispatcher.
    ///
    /// # Errors
    /// When two handlers want one topic, two event types declare one, or a setting cannot work.
    pub fn build(self) -> Result<Dispatcher<S>, BuildError> {
        check_settings(&self.config)?;
        if self.topics.is_empty()
            && self.events.is_empty()
            && self.raw.is_empty()
            && self.publishers.is_empty()
        {
            return Err(BuildError::Setting {
                problem: "a dispatcher needs a handler or a publisher",
            });
        }
        registry::check_types(&self.declared)?;
        let defaults = self.config.topic;
        let mut router = Router::new();
        for topic in self.topics {
            let target = topic.target.ok_or(BuildError::NoHandler {
                topic: topic.spec.name,
            })?;
            let config = topic.options.over(defaults);
            registry::declared(&mut router, topic.spec, config, target)?;
        }
        for event in self.events {
            event(&mut router, defaults)?;
        }
        for (topic, call) in self.raw {
            registry::raw(&mut router, &topic, defaults, call)?;
        }
        for (pattern, publisher) in self.publishers {
            let Some(parsed) = Pattern::parse(&pattern) else {
                return Err(BuildError::Pattern { pattern });
            };
            router.pattern(parsed, Route::publisher(pattern, defaults, publisher));
        }
        if self.complete {
            registry::check_routes(&router, &self.declared)?;
        }
        registry::check_topics(&router, &self.declared, self.config.unhandled)?;
        if router
            .routes()
            .iter()
            .any(|route| route.config.concurrency == 0)
        {
            return Err(BuildError::Setting {
                problem: "a topic's concurrency must be at least 1",
            });
        }
        if router.routes().iter().any(|route| route.batch() == 0) {
            return Err(BuildError::Setting {
                problem: "a batch must be of at least one event",
            });
        }
        if router
            .routes()
            .iter()
            .any(|route| route.config.timeout.is_zero())
        {
            return Err(BuildError::Setting {
                problem: "timeout must be longer than nothing",
            });
        }
        for route in router.routes() {
            let retention = &self.config.retention;
            retention.check(&route.name, &route.config.retry);
        }
        Ok(Dispatcher::new(self.store, self.config, router, self.state))
    }

    /// Builds the dispatcher and starts it as a task of its own: see [`Dispatcher::spawn`].
    ///
    /// # Errors
    /// As [`build`](Self::build).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[track_caller]
    pub fn spawn(self, token: CancellationToken) -> Result<DispatcherHandle, BuildError> {
        Ok(self.build()?.spawn(token))
    }
}

fn check_settings(config: &Config) -> Result<(), BuildError> {
    /// What is longer is a mistake, and could leave the range of the clock.
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let rules = [
        (
            (1..=100_000).contains(&config.concurrency),
            "concurrency must be 1 to 100,000",
        ),
        (
            config.batch > 0 && config.window >= config.batch,
            "window must be at least one batch",
        ),
        (config.settle_batch > 0, "settle_batch must be at least 1"),
        (
            config.lease >= Duration::from_millis(100) && config.lease <= DAY,
            "lease must be 100 ms to a day",
        ),
        (
            config.poll.0 > Duration::ZERO && config.poll.0.max(config.poll.1) <= DAY,
            "poll intervals must be longer than nothing and at most a day",
        ),
        (config.crash_limit > 0, "crash_limit must be at least 1"),
        (
            !config.topic.timeout.is_zero(),
            "timeout must be longer than nothing",
        ),
    ];
    match rules.into_iter().find(|(kept, _)| !kept) {
        Some((_, problem)) => Err(BuildError::Setting { problem }),
        None => Ok(()),
    }
}
