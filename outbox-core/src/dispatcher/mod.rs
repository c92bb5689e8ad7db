//! Delivers committed events: at least once, in order per aggregate.
//!
//! ```text
//! Reader ──rows──▶ Schedule ──jobs──▶ Worker ──outcomes──▶ Schedule ──batches──▶ Settler
//! ```
//!
//! A *session* is one membership: it joins, is kept alive by its lease's heartbeat, and ends when
//! it is stopped or the lease is lost. Then everything in memory is void and a new one starts.

mod retention;
mod config;
mod error;
mod stats;
mod failure;
mod verdict;
mod pace;
mod sleep;
mod health;
mod pulse;
mod stop;
mod patience;
mod answer;
mod membership;
mod lease;
mod witness;
mod around;
mod route;
mod transactional;
mod batch;
mod router;
mod registry;
mod topic_options;
mod builder;
mod settings;
mod schedule;
mod desk;
mod worker;
mod settling;
mod settler;
mod ownership;
mod prune;
mod pruner;
mod reader;
mod session;
mod handle;
#[cfg(feature = "testing")]
mod over;

pub use builder::DispatcherBuilder;
pub use config::{Config, OnDead, Redact, TopicConfig, Unhandled};
pub use error::BuildError;
pub use handle::DispatcherHandle;
pub use prune::prune;
pub use retention::{Archive, Retention};
pub use stats::{Stats, Summary};
pub use topic_options::TopicOptions;
#[cfg(feature = "testing")]
pub(crate) use witness::Witness;

use crate::{
    handler::State,
    store::{Store, StoreError},
};
use futures_util::FutureExt;
use handle::Task;
use health::Health;
use pulse::Pulse;
use router::Router;
use session::{End, Setting};
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use stop::Stop;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::error;

/// Delivers the events of one outbox to handlers.
///
/// Any number may run, in one process or many; each aggregate's events are with one of them at a
/// time. All dispatchers of one outbox must have the same handlers: an event whose owner has none
/// stays. What is handled elsewhere goes into an outbox with another prefix.
///
/// ```
/// use outbox_core::{CancellationToken, Delivery, Envelope, HandlerError, MemoryStore};
///
/// type Dispatcher = outbox_core::Dispatcher<MemoryStore>;
///
/// async fn send(envelope: Envelope, delivery: Delivery) -> Result<(), HandlerError> {
///     println!("{}: {} (attempt {})", envelope.topic, envelope.payload, delivery.attempt());
///     Ok(())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let store = MemoryStore::new();
/// let dispatcher = Dispatcher::builder(store)
///     .on_raw("order.placed", send)
///     .spawn(CancellationToken::new())?;
/// dispatcher.shutdown().await;
/// # Ok::<(), outbox_core::BuildError>(())
/// # }).unwrap();
/// ```
pub struct Dispatcher<S> {
    setting: Setting<S>,
}

impl<S: Store> Dispatcher<S> {
    /// Starts building a dispatcher over a store, or what a store is made of.
    pub fn builder(store: impl Into<S>) -> DispatcherBuilder<S> {
        DispatcherBuilder::new(store.into())
    }

    fn new(store: S, config: Config, router: Router, state: State) -> Self {
        Self {
            setting: Setting {
                store,
                config: Arc::new(config),
                router: Arc::new(router),
                state,
                counters: Arc::default(),
                pulse: Arc::new(Pulse::new()),
                witness: None,
            },
        }
    }

    /// Checks that the tables are there and as this version expects them. `spawn` and `run` wait
    /// for them, with a warning; a service that would rather not start calls this first.
    ///
    /// # Errors
    /// When the tables differ, or the database cannot be reached.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.setting.store.check().await
    }

    /// Starts the dispatcher as a task of its own. It stops when the token is cancelled, and not
    /// for an error of the database: it waits until that is back.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use = "the handle tells when the dispatcher has stopped"]
    #[track_caller]
    pub fn spawn(self, token: CancellationToken) -> DispatcherHandle {
        let stop = Stop {
            // A child: `shutdown` stops this dispatcher and nothing else that has the token.
            graceful: token.child_token(),
            hard: CancellationToken::new(),
        };
        self.setting.pulse.beat();
        DispatcherHandle {
            counters: Arc::clone(&self.setting.counters),
            pulse: Arc::clone(&self.setting.pulse),
            stall_limit: self.setting.config.stall_limit,
            stop: stop.clone(),
            task: Task::spawn(async move { serve(&self.setting, &stop).await }),
        }
    }

    /// Runs the dispatcher until the token is cancelled and everything has stopped.
    ///
    /// # Cancel safety
    /// Dropping the future stops the dispatcher as the token does, in the background.
    pub async fn run(self, token: CancellationToken) {
        let token = token.child_token();
        let _stop_with_us = token.clone().drop_guard();
        self.spawn(token).wait().await;
    }

    /// Delivers what can be delivered now, then returns: for cron jobs, tasks and serverless
    /// functions. Events that wait for a retry or their delay are left for the next run;
    /// [`Summary::next_due`] says when that pays.
    ///
    /// After `deadline` it stops as a dispatcher does, and [`Summary::idle`] is false. Give it more
    /// than the lease, a third of it and a second: so long it takes until the shards of a
    /// dispatcher that died are taken over.
    ///
    /// # Errors
    /// When the tables differ or the database cannot be reached.
    ///
    /// # Cancel safety
    /// Dropping the future stops the dispatcher in the background.
    pub async fn run_until_idle(&self, deadline: Duration) -> Result<Summary, StoreError> {
        let start = Instant::now();
        // A deadline that the clock cannot hold is none.
        let never = Duration::from_secs(u32::MAX.into());
        let deadline = start.checked_add(deadline).unwrap_or(start + never);
        let stop = Stop::default();
        let _stop_with_us = stop.graceful.clone().drop_guard();
        check(&self.setting).await?;
        let before = self.setting.counters.read();
        loop {
            let began = Instant::now();
            let (setting, session_stop) = (self.setting.clone(), stop.clone());
            let mut task =
                tokio::spawn(async move { session::run(&setting, &session_stop, true).await });
            let joined = match timeout_at(deadline, &mut task).await {
                Ok(joined) => joined,
                Err(_) => {
                    stop.graceful.cancel();
                    task.await
                }
            };
            let end = match joined {
                Ok(end) => end?,
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            };
            let after = self.setting.counters.read();
            match end {
                End::LeaseLost if Instant::now() < deadline => {
                    let next = began + self.setting.config.poll.1;
                    sleep_until(next.min(deadline)).await;
                }
                End::LeaseLost | End::Stopped => {
                    return Ok(Summary::new(before, after, false, None));
                }
                End::Idle(next_due) => {
                    let now = Instant::now();
                    let next_due = next_due.map(|due| due.saturating_duration_since(now));
                    return Ok(Summary::new(before, after, true, next_due));
                }
            }
        }
    }
}

/// Checks the tables.
async fn check<S: Store>(setting: &Setting<S>) -> Result<(), StoreError> {
    let (store, limit) = (setting.store.clone(), setting.config.answer_limit());
    answer::within(
        limit,
        "checking the tables",
        async move { store.check().await },
    )
    .await
}

/// Runs one session after the other until asked to stop.
async fn serve<S: Store>(setting: &Setting<S>, stop: &Stop) {
    let mut health = Health::new("joining");
    while !stop.graceful.is_cancelled() {
        setting.pulse.beat();
        let began = Instant::now();
        let checked = tokio::select! {
            checked = check(setting) => checked,
            () = stop.graceful.cancelled() => return,
        };
        let ended = match checked {
            Ok(()) => {
                let session = AssertUnwindSafe(session::run(setting, stop, false));
                session.catch_unwind().await
            }
            Err(error) => Ok(Err(error)),
        };
        match &ended {
            Ok(Ok(_)) => health.up(),
            Ok(Err(error)) => health.down(error),
            // The panic's own message has been printed. Nothing in memory outlives a session.
            Err(_) => error!("a session panicked: the dispatcher starts anew"),
        }
        if !matches!(ended, Ok(Ok(End::Stopped | End::Idle(_)))) {
            setting.store.let_go();
        }
        // What ended a session at once may end the next one too.
        let failed = !matches!(ended, Ok(Ok(_)));
        let next = if failed { Instant::now() } else { began } + setting.config.poll.1;
        tokio::select! {
            () = sleep_until(next) => {}
            () = stop.graceful.cancelled() => {}
        }
    }
}
