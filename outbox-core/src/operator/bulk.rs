use std::time::Duration;

/// How far and how fast to go when many events are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bulk {
    /// So many events at most.
    pub most: usize,
    /// So many events a second: 100.
    pub per_second: u32,
}

/// What was done with many events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkDone {
    /// So many were dealt with.
    pub done: usize,
    /// So many had gone when it was their turn.
    pub too_late: usize,
    /// There are more that match.
    pub more: bool,
}

/// How many events one transaction deals with at most.
const BATCH: usize = 100;

impl Bulk {
    /// At most so many events, 100 a second.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            per_second: 100,
        }
    }

    /// So many events a second; 0 means one.
    #[must_use]
    pub fn per_second(mut self, events: u32) -> Self {
        self.per_second = events;
        self
    }

    /// How many events one transaction deals with: those of one second at most.
    pub(super) fn batch(&self) -> usize {
        usize::try_from(self.per_second).map_or(BATCH, |events| events.clamp(1, BATCH))
    }

    /// How long to pause after so many events.
    pub(super) fn pause(&self, events: usize) -> Duration {
        Duration::from_secs_f64(events as f64 / f64::from(self.per_second.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_a_second_at_most() {
        let slow = Bulk::new(1_000).per_second(3);
        assert_eq!((slow.batch(), slow.pause(3)), (3, Duration::from_secs(1)));
        let fast = Bulk::new(1_000).per_second(1_000);
        assert_eq!(fast.batch(), BATCH);
        assert_eq!(fast.pause(BATCH), Duration::from_millis(100));
        let stopped = Bulk::new(1_000).per_second(0);
        assert_eq!(
            (stopped.batch(), stopped.pause(1)),
            (1, Duration::from_secs(1))
        );
    }
}
