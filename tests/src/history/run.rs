use super::{Log, Record, What};
use std::{
    thread,
    time::{Duration, Instant},
};

/// A handler that is running.
#[derive(Debug)]
pub struct Run {
    log: Log,
    record: Record,
    limit: Option<(Instant, Duration)>,
    is_last: bool,
}

/// The dispatcher counts the time from a moment before the handler's first line.
const BEFORE_THE_START: Duration = Duration::from_millis(200);

impl Run {
    pub(super) fn new(log: Log, record: Record) -> Self {
        Self {
            log,
            record: Record {
                what: What::Dropped,
                ..record
            },
            limit: None,
            is_last: false,
        }
    }

    /// Being dropped after this long is a failure.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some((Instant::now(), limit.saturating_sub(BEFORE_THE_START)));
        self
    }

    /// If it fails, the event is given up.
    #[must_use]
    pub fn last(mut self, is_last: bool) -> Self {
        self.is_last = is_last;
        self
    }

    /// It is about to return `Ok`.
    pub fn succeeded(self) {
        self.ended(What::Succeeded);
    }

    /// It is about to return an error.
    pub fn failed(self) {
        self.ended(What::Failed);
    }

    /// It is about to give the event up.
    pub fn dead(self) {
        self.ended(What::Dead);
    }

    fn ended(mut self, what: What) {
        self.record.what = what;
    }

    fn is_failure(&self) -> bool {
        let over = |(start, limit): (Instant, Duration)| start.elapsed() >= limit;
        match self.record.what {
            What::Failed => true,
            What::Dropped => thread::panicking() || self.limit.is_some_and(over),
            _ => false,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.is_failure() {
            self.record.what = if self.is_last {
                What::Dead
            } else {
                What::Failed
            };
        }
        self.log.write(&self.record);
    }
}
