use super::{Moment, Verb};
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// Holds the calls of a verb before anything is done, or their answers, until they are let through. A
/// clone is the same.
#[derive(Debug, Clone)]
pub struct Gate {
    verb: Verb,
    moment: Moment,
    arrived: Arc<watch::Sender<usize>>,
    passes: Arc<Semaphore>,
}

impl Gate {
    pub(super) fn new(verb: Verb, moment: Moment) -> Self {
        Self {
            verb,
            moment,
            arrived: Arc::new(watch::Sender::new(0)),
            passes: Arc::new(Semaphore::new(0)),
        }
    }

    /// Waits until this many calls have come here, let through or not.
    pub async fn reached(&self, calls: usize) {
        let mut arrived = self.arrived.subscribe();
        let enough = arrived.wait_for(|arrived| *arrived >= calls).await;
        assert!(enough.is_ok(), "the sender is here");
    }

    /// Lets this many calls through, also such as are still to come.
    pub fn pass(&self, calls: usize) {
        self.passes.add_permits(calls);
    }

    /// Lets all calls through from now on.
    pub fn open(&self) {
        self.passes.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    pub(super) async fn hold(&self, verb: Verb, moment: Moment) {
        if (verb, moment) != (self.verb, self.moment) {
            return;
        }
        self.arrived.send_modify(|arrived| *arrived += 1);
        if let Ok(pass) = self.passes.acquire().await {
            pass.forget();
        }
    }
}
