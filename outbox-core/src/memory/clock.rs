use chrono::{DateTime, TimeDelta, Utc};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};
use tokio::time::Instant;

/// The store's clock: tokio's, so that a test that pauses and advances it makes time virtual,
/// counted from a fixed date, so that a test sees the same instants at every run.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    /// How far a test has put it forward, in nanoseconds.
    pub(super) ahead: AtomicU64,
}

impl Clock {
    /// 2026-01-01T00:00:00Z.
    const START: DateTime<Utc> = match DateTime::from_timestamp(1_767_225_600, 0) {
        Some(start) => start,
        None => DateTime::UNIX_EPOCH,
    };

    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            ahead: AtomicU64::new(0),
        }
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        let ahead = Duration::from_nanos(self.ahead.load(Relaxed));
        later(Self::START, self.started.elapsed().saturating_add(ahead))
    }
}

/// `time` plus `delay`, at most the last instant there is.
pub(super) fn later(time: DateTime<Utc>, delay: Duration) -> DateTime<Utc> {
    TimeDelta::from_std(delay)
        .ok()
        .and_then(|delay| time.checked_add_signed(delay))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// How long it is from `now` until `time`; zero when it has passed.
pub(super) fn until(now: DateTime<Utc>, time: DateTime<Utc>) -> Duration {
    (time - now).to_std().unwrap_or(Duration::ZERO)
}
