use std::time::Duration;
use tokio::time::Instant;

/// Keeps a topic from running while what its handlers need is down, and probes it with single
/// events. It lives in memory: a new dispatcher finds out for itself.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// When the next probe may start.
    until: Instant,
    pause: Duration,
    probing: bool,
}

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Breaker {
    /// Whether an event may start now.
    pub(crate) fn allows(&self, now: Instant) -> bool {
        self.open
            .as_ref()
            .is_none_or(|open| !open.probing && open.until <= now)
    }

    /// When the next probe may start, while the topic is paused.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.open
            .as_ref()
            .filter(|open| !open.probing)
            .map(|open| open.until)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// An event has started.
    pub(crate) fn started(&mut self) {
        if let Some(open) = &mut self.open {
            open.probing = true;
        }
    }

    /// A handler succeeded, or failed for a reason of its own; `true` when this ends an outage.
    pub(crate) fn answered(&mut self) -> bool {
        self.open.take().is_some()
    }

    /// A probe ended without telling anything (its event was settled by somebody else).
    pub(crate) fn unanswered(&mut self) {
        if let Some(open) = &mut self.open {
            open.probing = false;
        }
    }

    /// A handler reported an outage; `true` when it is news. `random` is in `[0, 1)`.
    pub(crate) fn outage(&mut self, now: Instant, random: f64) -> bool {
        let Some(open) = &mut self.open else {
            self.open = Some(Open {
                until: now + spread(FIRST_PAUSE, random),
                pause: FIRST_PAUSE,
                probing: false,
            });
            return true;
        };
        // Those that had started before the breaker opened say nothing new.
        if open.probing {
            open.probing = false;
            open.pause = (open.pause * 2).min(LONGEST_PAUSE);
            open.until = now + spread(open.pause, random);
        }
        false
    }
}

fn spread(pause: Duration, random: f64) -> Duration {
    pause.mul_f64(1.0 + random / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_probe_at_a_time_with_growing_pauses() {
        let start = Instant::now();
        let mut breaker = Breaker::default();
        assert!(breaker.allows(start));
        assert!(breaker.outage(start, 0.0));
        assert!(
            !breaker.outage(start, 0.0),
            "a neighbour that was running already"
        );
        assert!(!breaker.allows(start));
        let mut at = start + FIRST_PAUSE;
        for pause in [2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(breaker.retry_at(), Some(at));
            assert!(breaker.allows(at));
            breaker.started();
            assert!(!breaker.allows(at), "a probe is under way");
            breaker.outage(at, 0.0);
            at += Duration::from_secs(pause);
        }
        breaker.started();
        assert!(breaker.answered());
        assert!(breaker.allows(at));
        assert!(!breaker.answered());
    }
}
