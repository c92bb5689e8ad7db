use std::{error, fmt, time::Duration};

/// When a failed event is tried again, and when it is given up: exponential backoff with jitter.
///
/// The policy is a pure function of the attempt: [`delay`](Self::delay) takes the random number.
///
/// ```
/// use outbox_core::RetryPolicy;
/// use std::time::Duration;
///
/// let policy = RetryPolicy::new(Duration::from_secs(1), Duration::from_secs(60), 5)?;
/// assert_eq!(policy.delay(1, 0.0), Some(Duration::from_secs(1)));
/// assert_eq!(policy.delay(3, 0.0), Some(Duration::from_secs(4)));
/// assert_eq!(policy.delay(6, 0.0), None); // dead: five retries were allowed
/// # Ok::<(), outbox_core::InvalidRetryPolicy>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    first: Duration,
    longest: Duration,
    retries: u32,
    jitter: Jitter,
}

/// What is added to a delay, so that events which failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Jitter {
    /// Up to this part of the delay.
    Part(f64),
    /// Up to this much.
    UpTo(Duration),
}

impl RetryPolicy {
    /// Waits `first`, then twice as long each time up to `longest`, and gives up once `retries`
    /// retries have failed. A jitter of up to a quarter is added, never subtracted.
    ///
    /// # Errors
    /// When `first` is zero or longer than `longest`, or `longest` is more than a year.
    pub fn new(
        first: Duration,
        longest: Duration,
        retries: u32,
    ) -> Result<Self, InvalidRetryPolicy> {
        const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);
        if first.is_zero() || first > longest || longest > YEAR {
            return Err(InvalidRetryPolicy);
        }
        Ok(Self {
            first,
            longest,
            retries,
            jitter: Jitter::Part(0.25),
        })
    }

    /// 1 s, 2 s, 4 s … up to a minute: for receivers that are back soon.
    #[must_use]
    pub const fn quick() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            retries: 10,
            jitter: Jitter::Part(0.25),
        }
    }

    /// 30 s, 1 min, 2 min … up to 15 minutes, and up to 5 s more: for receivers that ask for
    /// patience.
    #[must_use]
    pub const fn patient() -> Self {
        Self {
            first: Duration::from_secs(30),
            longest: Duration::from_secs(15 * 60),
            retries: 10,
            jitter: Jitter::UpTo(Duration::from_secs(5)),
        }
    }

    /// Gives up at the first failure.
    #[must_use]
    pub const fn never() -> Self {
        Self {
            retries: 0,
            ..Self::quick()
        }
    }

    /// The same curve with another number of retries.
    #[must_use]
    pub const fn retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// How long to wait after this many failed attempts, or `None` when the event is given up.
    /// `random` is in `[0, 1)`.
    #[must_use]
    pub fn delay(&self, failed: u32, random: f64) -> Option<Duration> {
        if failed > self.retries {
            return None;
        }
        let doublings = failed.saturating_sub(1).min(31);
        let delay = self.first.saturating_mul(1 << doublings).min(self.longest);
        Some(self.spread(delay, random))
    }

    /// How long an event may be tried again after its first delivery, at most, beside the time that
    /// the handler takes: what a consumer must remember it for. An operator who retries a dead
    /// letter or replays an event is not bound by it.
    ///
    /// ```
    /// use outbox_core::RetryPolicy;
    ///
    /// assert!(RetryPolicy::default().horizon().as_secs() < 30 * 60);
    /// ```
    #[must_use]
    pub fn horizon(&self) -> Duration {
        /// From here on each delay is as long as the one before.
        const SAME: u32 = 32;
        let delays = (1..=SAME).map_while(|failed| self.delay(failed, 1.0));
        let first = delays.fold(Duration::ZERO, Duration::saturating_add);
        let rest = self.delay(SAME, 1.0).unwrap_or_default();
        first.saturating_add(rest.saturating_mul(self.retries.saturating_sub(SAME)))
    }

    /// Adds the jitter to a delay.
    pub(crate) fn spread(&self, delay: Duration, random: f64) -> Duration {
        delay
            + match self.jitter {
                Jitter::Part(part) => delay.mul_f64(part * random),
                Jitter::UpTo(most) => most.mul_f64(random),
            }
    }
}

impl Default for RetryPolicy {
    /// 1 s, 2 s, 4 s … up to 15 minutes; dead once more than 10 attempts have failed.
    fn default() -> Self {
        Self {
            longest: Duration::from_secs(15 * 60),
            ..Self::quick()
        }
    }
}

/// A retry policy whose first delay is zero, or longer than the longest, or that waits over a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRetryPolicy;

impl fmt::Display for InvalidRetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a retry policy needs 0 < first delay <= longest delay <= 1 year")
    }
}

impl error::Error for InvalidRetryPolicy {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn presets_follow_their_curves() {
        let seconds = |policy: RetryPolicy| -> Vec<u64> {
            (1..=11)
                .map_while(|failed| policy.delay(failed, 0.0))
                .map(|delay| delay.as_secs())
                .collect()
        };
        assert_eq!(
            seconds(RetryPolicy::default()),
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
        );
        assert_eq!(
            seconds(RetryPolicy::quick()),
            [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
        );
        assert_eq!(
            seconds(RetryPolicy::patient()),
            [30, 60, 120, 240, 480, 900, 900, 900, 900, 900]
        );
        assert_eq!(seconds(RetryPolicy::never()), [] as [u64; 0]);
    }

    #[test]
    fn the_horizon_is_that_of_the_longest_delays() {
        let second = Duration::from_secs(1);
        for retries in [0, 1, 5, 31, 32, 33, 100] {
            let policy = RetryPolicy::new(second, 8 * second, retries).unwrap();
            let delays = (1..=retries).map(|failed| policy.delay(failed, 1.0).unwrap());
            assert_eq!(policy.horizon(), delays.sum::<Duration>(), "{retries}");
        }
        let for_ever = RetryPolicy::default().retries(u32::MAX);
        assert!(for_ever.horizon() > Duration::from_secs(60 * 60 * 24 * 365 * 1_000));
    }

    #[test]
    fn policies_that_make_no_sense_do_not_construct() {
        let second = Duration::from_secs(1);
        assert!(RetryPolicy::new(Duration::ZERO, second, 1).is_err());
        assert!(RetryPolicy::new(second * 2, second, 1).is_err());
        assert!(RetryPolicy::new(second, Duration::MAX, 1).is_err());
    }

    proptest! {
        #[test]
        fn jitter_only_lengthens_and_spreads(failed in 1u32..=10, a in 0.0..1.0f64, b in 0.0..1.0f64) {
            let policy = RetryPolicy::default();
            let least = policy.delay(failed, 0.0).unwrap();
            let delay = policy.delay(failed, a).unwrap();
            prop_assert!(least <= delay && delay <= least.mul_f64(1.25));
            prop_assert!(a > b || delay <= policy.delay(failed, b).unwrap());
        }
    }
}
