use std::time::Duration;

/// When to poll next: often while something comes, ever less often while nothing does.
///
/// After a hint that something was emitted in this process, whose transaction may not have
/// committed yet, it polls at once and after 2, 10 and 50 ms.
#[derive(Debug)]
pub(crate) struct Pace {
    shortest: Duration,
    longest: Duration,
    idle: Duration,
    hints: &'static [u64],
}

const AFTER_HINT: &[u64] = &[0, 2, 10, 50];

/// Pauses from this one on are long: it comes after about 30 ms without an event.
const LONG: Duration = Duration::from_millis(40);

impl Pace {
    pub(crate) fn new((shortest, longest): (Duration, Duration)) -> Self {
        Self {
            shortest,
            longest: longest.max(shortest),
            idle: shortest,
            hints: AFTER_HINT,
        }
    }

    /// Something was emitted in this process.
    pub(crate) fn hint(&mut self) {
        self.hints = AFTER_HINT;
    }

    /// Starts again with the shortest pause.
    pub(crate) fn hurry(&mut self) {
        self.idle = self.shortest;
    }

    /// Goes on with the longest pause.
    pub(crate) fn rest(&mut self) {
        self.idle = self.longest;
    }

    /// Whether nothing has come for so long that pauses are long now.
    pub(crate) fn is_slow(&self) -> bool {
        self.hints.is_empty() && self.idle >= LONG.min(self.longest)
    }

    /// How long to pause after a fetch. `random` is in `[0, 1)`.
    pub(crate) fn after(&mut self, found: bool, random: f64) -> Duration {
        if found {
            self.hurry();
        }
        if let [next, rest @ ..] = self.hints {
            self.hints = rest;
            return Duration::from_millis(*next);
        }
        let pause = self.idle;
        self.idle = (self.idle * 2).min(self.longest);
        // Up to a quarter less, so that dispatchers do not poll in step.
        pause.mul_f64(1.0 - random / 4.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(pace: &mut Pace, polls: usize) -> Vec<u128> {
        (0..polls)
            .map(|_| pace.after(false, 0.0).as_millis())
            .collect()
    }

    #[test]
    fn an_idle_dispatcher_polls_ever_less_often() {
        let mut pace = Pace::new((Duration::from_millis(10), Duration::from_secs(1)));
        assert_eq!(pauses(&mut pace, 4), [0, 2, 10, 50]);
        assert_eq!(
            pauses(&mut pace, 9),
            [10, 20, 40, 80, 160, 320, 640, 1000, 1000]
        );
        pace.hint();
        assert_eq!(pauses(&mut pace, 5), [0, 2, 10, 50, 1000]);
        assert_eq!(pace.after(true, 0.0), Duration::from_millis(10));
    }

    #[test]
    fn an_outbox_is_idle_after_thirty_milliseconds() {
        let mut pace = Pace::new((Duration::from_millis(10), Duration::from_secs(1)));
        pauses(&mut pace, 4);
        assert!(!pace.is_slow());
        assert_eq!(pauses(&mut pace, 2), [10, 20]);
        assert!(pace.is_slow());
        pace.after(true, 0.0);
        assert!(!pace.is_slow());
    }

    #[test]
    fn jitter_only_shortens() {
        let mut pace = Pace::new((Duration::from_secs(1), Duration::from_secs(1)));
        pauses(&mut pace, 4);
        assert!(pace.after(false, 0.999) > Duration::from_millis(750));
    }
}
