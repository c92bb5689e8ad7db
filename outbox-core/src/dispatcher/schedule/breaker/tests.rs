use super::*;

/// A breaker, and the time.
struct Case(Breaker, Instant);

impl Case {
    fn new() -> Self {
        Self(Breaker::default(), Instant::now())
    }

    fn late(&mut self, sign: Sign, lane: LaneId) -> Reaction {
        self.attempt(sign, lane, 0)
    }

    fn attempt(&mut self, sign: Sign, lane: LaneId, attempts: u32) -> Reaction {
        let heard = Heard {
            sign,
            probe: false,
            lane,
            attempts,
        };
        self.0.heard(heard, (self.1, 0.0))
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
        assert!(self.0.started(), "a round");
        // Nothing else is there that was never tried.
        self.0.end_round();
        assert!(!self.0.allows(self.1), "one probe at a time");
        let heard = Heard {
            sign,
            probe: true,
            lane: 9,
            attempts: 0,
        };
        self.0.heard(heard, (self.1, 0.0))
    }

    /// Probes that fail, until this long after the failures in a row.
    fn down_until(&mut self, end: Instant) {
        while self.0.retry_at().unwrap() < end {
            assert_eq!(self.probe(Sign::Fails), GIVEN_BACK);
        }
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
const TRIED: Reaction = Reaction {
    change: Some(OutageChange::Tried),
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
async fn rounds_widen_while_an_outage_is_only_seen() {
    let mut case = Case::new();
    case.fail_in_a_row();
    let mut round = |sign| {
        case.1 = case.0.retry_at().unwrap();
        let mut started = 0;
        while case.0.allows(case.1) {
            assert_eq!(case.0.wants_fresh(), started > 0);
            assert_eq!(case.0.started(), started == 0);
            started += 1;
        }
        for lane in 0..started {
            assert!(!case.0.allows(case.1), "one round at a time");
            let heard = Heard {
                sign,
                probe: true,
                lane,
                attempts: 0,
            };
            assert_eq!(case.0.heard(heard, (case.1, 0.0)), GIVEN_BACK);
        }
        (started, (case.0.retry_at().unwrap() - case.1).as_secs())
    };
    let rounds: Vec<_> = (0..8).map(|_| round(Sign::Fails)).collect();
    let pauses = [2, 4, 8, 10, 10, 10, 10, 10];
    assert_eq!(
        rounds.iter().map(|round| round.1).collect::<Vec<_>>(),
        pauses
    );
    assert_eq!(
        rounds.iter().map(|round| round.0).collect::<Vec<_>>(),
        [1, 2, 4, 8, 16, 32, 64, 64]
    );
    assert_eq!(round(Sign::Hangs).0, 64, "each for as long as it may take");
    assert_eq!(round(Sign::Fails).0, 1);
    assert_eq!(round(Sign::Down).0, 2, "reported now");
    assert_eq!([round(Sign::Down).0, round(Sign::Down).0], [1, 1]);
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
async fn what_is_only_seen_is_put_to_the_test() {
    let mut case = Case::new();
    let start = case.1;
    case.fail_in_a_row();
    case.down_until(start + TRIAL);
    assert_eq!(case.probe(Sign::Fails), TRIED);
    assert!(case.0.allows(case.1), "the topic runs");
    for lane in 0..20 {
        assert_eq!(case.late(Sign::Fails, lane), COUNTS, "its first attempt");
    }
    for lane in 0..4 {
        assert_eq!(case.attempt(Sign::Fails, lane, 1), COUNTS);
    }
    assert_eq!(case.attempt(Sign::Fails, 4, 1), BEGAN, "it is an outage");
    case.down_until(start + TRIAL * 100);
    assert_eq!(case.probe(Sign::Works), OVER);
}

#[tokio::test]
async fn a_topic_whose_first_attempts_fail_is_not_down() {
    let mut case = Case::new();
    let start = case.1;
    case.fail_in_a_row();
    case.down_until(start + TRIAL);
    assert_eq!(case.probe(Sign::Fails), TRIED);
    for lane in 0..100 {
        assert_eq!(case.late(Sign::Fails, lane), COUNTS);
        assert_eq!(case.attempt(Sign::Works, lane, 1), COUNTS);
    }
    for lane in 0..100 {
        assert_eq!(case.late(Sign::Fails, lane), COUNTS);
    }
    assert_eq!(case.late(Sign::Works, 5), COUNTS, "at its first attempt");
    case.fail_in_a_row();
}

#[tokio::test]
async fn what_is_reported_is_not_put_to_the_test() {
    let mut case = Case::new();
    case.fail_in_a_row();
    assert_eq!(case.probe(Sign::Down), GIVEN_BACK);
    for _ in 0..100 {
        assert_eq!(case.probe(Sign::Down), GIVEN_BACK);
    }
}

#[tokio::test]
async fn what_fails_for_days_is_no_outage() {
    let mut case = Case::new();
    let start = case.1;
    case.fail_in_a_row();
    case.down_until(start + TRIAL);
    assert_eq!(case.probe(Sign::Fails), TRIED);
    for lane in 0..4 {
        case.attempt(Sign::Fails, lane, 1);
    }
    assert_eq!(case.attempt(Sign::Fails, 4, 1), BEGAN);
    case.down_until(start + LONGEST_UNREPORTED);
    assert_eq!(case.probe(Sign::Fails), COUNTS);
}
