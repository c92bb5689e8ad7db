use super::{
    pulse::Pulse,
    stats::{Counters, Stats},
    stop::Stop,
};
use futures_util::FutureExt;
use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, resume_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// A running dispatcher; a clone is the same one. Dropping it leaves the dispatcher running: its
/// token stops it.
#[derive(Debug, Clone)]
pub struct DispatcherHandle {
    pub(super) task: Task,
    pub(super) stop: Stop,
    pub(super) counters: Arc<Counters>,
    pub(super) pulse: Arc<Pulse>,
    pub(super) stall_limit: Duration,
}

/// A task that any number can wait for.
#[derive(Debug, Clone)]
pub(super) struct Task {
    over: CancellationToken,
    /// What it panicked with, for the first who waits.
    panic: Arc<Mutex<Option<Box<dyn Any + Send>>>>,
}

impl Task {
    /// Starts it.
    #[track_caller]
    pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        let task = Self {
            over: CancellationToken::new(),
            panic: Arc::default(),
        };
        // Also when the runtime drops the task.
        let over = task.over.clone().drop_guard();
        let panic = Arc::clone(&task.panic);
        tokio::spawn(async move {
            let _over = over;
            if let Err(payload) = AssertUnwindSafe(work).catch_unwind().await {
                *panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
            }
        });
        task
    }

    async fn wait(&self) {
        self.over.cancelled().await;
        let panic = self
            .panic
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }
}

impl DispatcherHandle {
    /// Stops and waits: nothing new is started, running handlers finish within the grace period,
    /// outcomes are written, the shards are given up.
    ///
    /// # Cancel safety
    /// The stop goes on when this future is dropped.
    pub async fn shutdown(&self) {
        self.stop.graceful.cancel();
        self.wait().await;
    }

    /// Stops without waiting for handlers: they are dropped at their next await, their events are
    /// delivered again. Takes about a second at most.
    ///
    /// # Cancel safety
    /// The stop goes on when this future is dropped.
    pub async fn abort(&self) {
        self.stop.graceful.cancel();
        self.stop.hard.cancel();
        self.wait().await;
    }

    /// Drops running handlers although a graceful stop is under way: for a second signal.
    pub fn hurry(&self) {
        self.stop.graceful.cancel();
        self.stop.hard.cancel();
    }

    /// Waits until the dispatcher has stopped; resumes a panic of its own.
    ///
    /// # Cancel safety
    /// Nothing depends on this future.
    pub async fn wait(&self) {
        self.task.wait().await;
    }

    /// Whether the dispatcher has stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.task.over.is_cancelled()
    }

    /// Whether the dispatcher's loop is turning. It says nothing of the database: a liveness
    /// probe that failed with the database would only restart healthy processes.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !self.is_stopped() && self.pulse.age() < self.stall_limit
    }

    /// What the dispatcher has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.read()
    }
}
