use super::{Clock, MemoryStore};
use std::{sync::atomic::Ordering::Relaxed, time::Duration};

impl MemoryStore {
    /// Puts the clock forward. What dispatchers have read is stale then: they look again.
    pub(crate) fn pass(&self, time: Duration) {
        self.inner.clock.pass(time);
        self.state().revision += 1;
        self.inner.wake.notify();
    }
}

impl Clock {
    fn pass(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let add = |ahead: u64| Some(ahead.saturating_add(nanos));
        // The closure always answers.
        let _ = self.ahead.fetch_update(Relaxed, Relaxed, add);
    }
}
