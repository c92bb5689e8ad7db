use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};
use tokio::time::Instant;

/// Shows that a loop is turning.
#[derive(Debug)]
pub(crate) struct Pulse {
    start: Instant,
    /// Milliseconds from `start` to the last turn.
    last: AtomicU64,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    pub(crate) fn beat(&self) {
        let since = self.start.elapsed().as_millis();
        self.last
            .store(u64::try_from(since).unwrap_or(u64::MAX), Relaxed);
    }

    /// How long ago the last turn was.
    pub(crate) fn age(&self) -> Duration {
        self.start
            .elapsed()
            .saturating_sub(Duration::from_millis(self.last.load(Relaxed)))
    }
}
