use super::{
    pulse::Pulse,
    stats::{Counters, Stats},
    stop::Stop,
};
use std::{sync::Arc, time::Duration};
use tokio::task::JoinHandle;

/// A running dispatcher. Dropping the handle leaves it running; its token stops it.
#[derive(Debug)]
pub struct DispatcherHandle {
    pub(super) task: JoinHandle<()>,
    pub(super) stop: Stop,
    pub(super) counters: Arc<Counters>,
    pub(super) pulse: Arc<Pulse>,
    pub(super) stall_limit: Duration,
}

impl DispatcherHandle {
    /// Stops and waits: nothing new is started, running handlers finish within the grace period,
    /// outcomes are written, the shards are given up.
    ///
    /// # Cancel safety
    /// The stop goes on when this future is dropped.
    pub async fn shutdown(self) {
        self.stop.graceful.cancel();
        self.wait().await;
    }

    /// Stops without waiting for handlers: they are dropped at their next await, their events are
    /// delivered again. Takes about a second at most.
    ///
    /// # Cancel safety
    /// The stop goes on when this future is dropped.
    pub async fn abort(self) {
        self.stop.graceful.cancel();
        self.stop.hard.cancel();
        self.wait().await;
    }

    /// Drops running handlers although a graceful stop is under way: for a second signal.
    pub fn hurry(&self) {
        self.stop.graceful.cancel();
        self.stop.hard.cancel();
    }

    /// Waits until the dispatcher has stopped by its token.
    pub async fn wait(self) {
        if let Err(error) = self.task.await
            && let Ok(panic) = error.try_into_panic()
        {
            std::panic::resume_unwind(panic);
        }
    }

    /// Whether the dispatcher's loop is turning. It says nothing of the database: a liveness
    /// probe that failed with the database would only restart healthy processes.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !self.task.is_finished() && self.pulse.age() < self.stall_limit
    }

    /// What the dispatcher has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.read()
    }
}
