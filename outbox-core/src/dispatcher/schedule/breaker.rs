use super::LaneId;
use std::time::Duration;
use tokio::time::Instant;

/// Keeps a topic from running while what its handlers need is down, and probes it with single
/// events. It lives in memory: a new dispatcher finds out for itself.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    open: Option<Open>,
    streak: Streak,
}

/// What a delivery says about whatever the topic's handlers need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It succeeded.
    Works,
    /// It failed, but something answered: refused for good, asked for more time.
    Answers,
    /// The handler reported an outage.
    Down,
    /// The handler failed: once says little, many times in a row that nothing works. Where an
    /// outage was reported it says that there is none any more.
    Fails,
    /// The handler did not finish in time.
    Hangs,
    /// It failed for a reason that lies in the event or in the handler.
    Silent,
}

/// What became of the topic, and of the event's attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reaction {
    pub(crate) change: Option<OutageChange>,
    /// The attempt does not count.
    pub(crate) given_back: bool,
}

/// News about a topic's outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutageChange {
    Began,
    Over,
}

#[derive(Debug)]
struct Open {
    /// When the next probe may start.
    until: Instant,
    pause: Duration,
    probing: bool,
    since: Instant,
    /// Nobody reported the outage, it was seen.
    seen: bool,
}

/// Failures without a success between them.
#[derive(Debug, Default)]
struct Streak {
    failures: usize,
    /// The first few lanes they were of.
    lanes: Vec<LaneId>,
}

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// So many failures in a row, over so many lanes, are an outage.
const FAILURES: usize = 5;
const LANES: usize = 3;

/// An outage that is not reported any more gives back no attempts after this time: what still fails
/// then fails for ever, and becomes a dead letter.
const LONGEST_UNREPORTED: Duration = Duration::from_secs(24 * 60 * 60);

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

    /// A probe ended without telling anything.
    pub(crate) fn unanswered(&mut self) {
        if let Some(open) = &mut self.open {
            open.probing = false;
        }
    }

    /// A delivery is over. `probe`: it had started while the breaker was open. What had started
    /// before and fails only now ends no outage and makes none longer. `random` is in `[0, 1)`.
    pub(crate) fn heard(
        &mut self,
        sign: Sign,
        probe: bool,
        lane: LaneId,
        (now, random): (Instant, f64),
    ) -> Reaction {
        match sign {
            Sign::Works => self.streak = Streak::default(),
            Sign::Answers if self.open.is_none() => self.streak = Streak::default(),
            Sign::Fails | Sign::Hangs if self.open.is_none() => self.streak.add(lane),
            _ => {}
        }
        let Some(open) = &mut self.open else {
            let seen = self.streak.is_outage();
            let began = sign == Sign::Down || seen;
            if began {
                self.streak = Streak::default();
                self.open = Some(Open {
                    until: now + spread(FIRST_PAUSE, random),
                    pause: FIRST_PAUSE,
                    probing: false,
                    since: now,
                    seen,
                });
            }
            return Reaction {
                change: began.then_some(OutageChange::Began),
                given_back: began,
            };
        };
        let answers = sign == Sign::Answers || sign == Sign::Fails && !open.seen;
        if sign == Sign::Works || probe && answers {
            self.open = None;
            return Reaction {
                change: Some(OutageChange::Over),
                given_back: false,
            };
        }
        if probe {
            match sign {
                Sign::Silent => open.probing = false,
                _ => open.fail(now, random),
            }
        }
        let unreported = sign == Sign::Hangs || sign == Sign::Fails && open.seen;
        let believed = now < open.since + LONGEST_UNREPORTED;
        Reaction {
            change: None,
            given_back: sign == Sign::Down || unreported && believed,
        }
    }

    /// A probe failed, for a reason of its own as others have shown: the topic stays paused.
    pub(crate) fn failed_alone(&mut self, now: Instant, random: f64) {
        if let Some(open) = &mut self.open {
            open.fail(now, random);
        }
    }
}

impl Open {
    fn fail(&mut self, now: Instant, random: f64) {
        self.probing = false;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        self.until = now + spread(self.pause, random);
    }
}

impl Streak {
    fn add(&mut self, lane: LaneId) {
        self.failures += 1;
        if self.lanes.len() < LANES && !self.lanes.contains(&lane) {
            self.lanes.push(lane);
        }
    }

    fn is_outage(&self) -> bool {
        self.failures >= FAILURES && self.lanes.len() >= LANES
    }
}

fn spread(pause: Duration, random: f64) -> Duration {
    pause.mul_f64(1.0 + random / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A breaker, and the time.
    struct Case(Breaker, Instant);

    impl Case {
        fn new() -> Self {
            Self(Breaker::default(), Instant::now())
        }

        fn late(&mut self, sign: Sign, lane: LaneId) -> Reaction {
            self.0.heard(sign, false, lane, (self.1, 0.0))
        }

        fn fail_in_a_row(&mut self) {
            for lane in 0..5 {
                self.late(Sign::Fails, lane);
            }
            assert!(self.0.is_open());
        }

        fn probe(&mut self, sign: Sign) -> Reaction {
            self.1 = self.1.max(self.0.retry_at().unwrap());
            assert!(self.0.allows(self.1));
            self.0.started();
            assert!(!self.0.allows(self.1), "one probe at a time");
            self.0.heard(sign, true, 9, (self.1, 0.0))
        }
    }

    const BEGAN: Reaction = Reaction {
        change: Some(OutageChange::Began),
        given_back: true,
    };
    const OVER: Reaction = Reaction {
        change: Some(OutageChange::Over),
        given_back: false,
    };
    const GIVEN_BACK: Reaction = Reaction {
        change: None,
        given_back: true,
    };
    const COUNTS: Reaction = Reaction {
        change: None,
        given_back: false,
    };

    #[tokio::test]
    async fn one_probe_at_a_time_with_growing_pauses() {
        let mut case = Case::new();
        assert!(case.0.allows(case.1));
        assert_eq!(case.late(Sign::Down, 1), BEGAN);
        assert_eq!(case.late(Sign::Down, 2), GIVEN_BACK, "it ran already");
        assert!(!case.0.allows(case.1));
        let mut at = case.1 + FIRST_PAUSE;
        for pause in [2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(case.0.retry_at(), Some(at));
            assert_eq!(case.probe(Sign::Down), GIVEN_BACK);
            at += Duration::from_secs(pause);
        }
        assert_eq!(case.probe(Sign::Works), OVER);
        assert!(case.0.allows(case.1));
        assert_eq!(case.late(Sign::Works, 1), COUNTS);
    }

    #[tokio::test]
    async fn failures_in_a_row_over_several_lanes_are_an_outage() {
        let mut case = Case::new();
        for failure in 0..20 {
            assert_eq!(case.late(Sign::Fails, failure % 2), COUNTS, "of two lanes");
        }
        assert_eq!(case.late(Sign::Hangs, 2), BEGAN);
        assert_eq!(case.late(Sign::Fails, 3), GIVEN_BACK);
        assert_eq!(case.probe(Sign::Fails), GIVEN_BACK);
        assert_eq!(case.probe(Sign::Works), OVER);
        for lane in 0..4 {
            assert_eq!(case.late(Sign::Fails, lane), COUNTS);
        }
        case.late(Sign::Works, 5);
        assert_eq!(case.late(Sign::Fails, 4), COUNTS, "not in a row");
    }

    #[tokio::test]
    async fn what_started_before_and_fails_late_changes_nothing() {
        let mut case = Case::new();
        case.late(Sign::Down, 1);
        let until = case.0.retry_at();
        assert_eq!(case.late(Sign::Hangs, 2), GIVEN_BACK);
        for sign in [Sign::Fails, Sign::Answers, Sign::Silent] {
            assert_eq!(case.late(sign, 3), COUNTS);
        }
        assert_eq!(case.0.retry_at(), until);
        assert_eq!(case.late(Sign::Works, 4), OVER, "it works");
    }

    #[tokio::test]
    async fn a_probe_that_fails_for_its_own_reason_ends_a_reported_outage_only() {
        let mut case = Case::new();
        case.late(Sign::Down, 1);
        assert_eq!(case.probe(Sign::Hangs), GIVEN_BACK);
        assert_eq!(case.probe(Sign::Silent), COUNTS);
        assert_eq!(case.probe(Sign::Fails), OVER);
        case.fail_in_a_row();
        assert_eq!(case.probe(Sign::Fails), GIVEN_BACK);
        assert_eq!(case.probe(Sign::Answers), OVER);
    }

    #[tokio::test]
    async fn what_fails_for_days_is_no_outage() {
        let mut case = Case::new();
        case.fail_in_a_row();
        assert_eq!(case.probe(Sign::Fails), GIVEN_BACK);
        case.1 += LONGEST_UNREPORTED;
        assert_eq!(case.probe(Sign::Fails), COUNTS);
    }
}
