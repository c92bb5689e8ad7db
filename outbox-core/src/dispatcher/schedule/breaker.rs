use super::LaneId;
use std::time::Duration;
use tokio::time::Instant;

/// Keeps a topic from running while what its handlers need is down, and probes it with single
/// events. It lives in memory: a new dispatcher finds out for itself.
///
/// An outage that was only seen may be none: many events may fail for reasons of their own, and what
/// was never tried waits behind them. So there it is probed in rounds, each with up to twice as many
/// as the last, all but the first of which were never tried.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    open: Option<Open>,
    streak: Streak,
    /// Since when nothing has succeeded, from the first time on that this was seen as an outage.
    seen_since: Option<Instant>,
    /// That was put to the test, and no event has succeeded at its first attempt since: that first
    /// attempts fail says nothing.
    tried: bool,
}

/// A delivery that is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    pub(crate) sign: Sign,
    /// It had started while the breaker was open. What had started before and fails only now ends
    /// no outage and makes none longer.
    pub(crate) probe: bool,
    pub(crate) lane: LaneId,
    /// How many attempts had failed before.
    pub(crate) attempts: u32,
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
    /// The topic runs, and failures count, to see whether it is one.
    Tried,
    Over,
}

#[derive(Debug)]
struct Open {
    /// When the next round may begin.
    until: Instant,
    /// From the end of this round to the next one.
    pause: Duration,
    /// Probes under way.
    under_way: usize,
    /// How many more this round may have.
    left: usize,
    /// How many the next one may have.
    width: usize,
    /// What is not reported is believed until then: what still fails fails for ever, and becomes a
    /// dead letter.
    believed_until: Instant,
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

/// Where an outage is only seen, and may be none: an event that nothing is wrong with waits for no longer.
const LONGEST_SEEN_PAUSE: Duration = Duration::from_secs(10);

/// How many probes a round has at most.
const WIDEST: usize = 64;

/// So many failures in a row, over so many lanes, are an outage.
const FAILURES: usize = 5;
const LANES: usize = 3;

/// How long an outage gives attempts back that is not reported, or not any more.
const LONGEST_UNREPORTED: Duration = Duration::from_secs(24 * 60 * 60);

/// An outage that was only seen may be none: handlers may fail by the attempt. After this time it
/// is put to the test: the topic runs, failures count, and it is down again when so many in a row
/// are of events that have failed before.
const TRIAL: Duration = Duration::from_secs(5 * 60);

impl Breaker {
    /// Whether an event may start now.
    pub(crate) fn allows(&self, now: Instant) -> bool {
        self.open
            .as_ref()
            .is_none_or(|open| open.left > 0 || open.under_way == 0 && open.until <= now)
    }

    /// Whether only an event may start that was never tried.
    pub(crate) fn wants_fresh(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.left > 0)
    }

    /// There is none.
    pub(crate) fn end_round(&mut self) {
        if let Some(open) = &mut self.open {
            open.left = 0;
        }
    }

    /// When the next round may begin, while the topic is paused.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        let open = self.open.as_ref();
        open.filter(|open| open.left == 0).map(|open| open.until)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// An event has started. Returns whether a round began with it.
    pub(crate) fn started(&mut self) -> bool {
        let Some(open) = &mut self.open else {
            return false;
        };
        open.under_way += 1;
        if open.left > 0 {
            open.left -= 1;
            return false;
        }
        open.begin_round();
        true
    }

    /// A probe ended without telling anything.
    pub(crate) fn unanswered(&mut self) {
        if let Some(open) = &mut self.open {
            open.under_way = open.under_way.saturating_sub(1);
        }
    }

    /// A delivery is over. `random` is in `[0, 1)`.
    pub(crate) fn heard(&mut self, heard: Heard, (now, random): (Instant, f64)) -> Reaction {
        let Heard { sign, probe, .. } = heard;
        self.learn(heard);
        let is_trial = !self.tried && self.seen_since.is_some_and(|since| since + TRIAL <= now);
        let Some(open) = &mut self.open else {
            let seen = self.streak.is_outage();
            return if seen || sign == Sign::Down {
                self.begin(seen, (now, random))
            } else {
                Reaction::default()
            };
        };
        let answers = sign == Sign::Answers || sign == Sign::Fails && !open.seen;
        if sign == Sign::Works || probe && answers {
            (self.open, self.seen_since) = (None, None);
            return Reaction {
                change: Some(OutageChange::Over),
                given_back: false,
            };
        }
        if sign == Sign::Down {
            (open.seen, open.believed_until) = (false, now + LONGEST_UNREPORTED);
            (open.left, open.width) = (0, 1);
        }
        if probe && is_trial && open.seen && sign != Sign::Silent {
            (self.tried, self.open) = (true, None);
            return Reaction {
                change: Some(OutageChange::Tried),
                given_back: false,
            };
        }
        if probe {
            match sign {
                Sign::Silent => open.under_way = open.under_way.saturating_sub(1),
                _ => open.fail(now, random),
            }
            if sign == Sign::Hangs {
                // Each takes a slot for long.
                (open.left, open.width) = (0, 1);
            }
        }
        let unreported = sign == Sign::Hangs || sign == Sign::Fails && open.seen;
        let believed = now < open.believed_until;
        Reaction {
            change: None,
            given_back: sign == Sign::Down || unreported && believed,
        }
    }

    /// What it says of the topic as long as that is not down.
    fn learn(&mut self, heard: Heard) {
        match heard.sign {
            Sign::Works => {
                (self.streak, self.seen_since) = (Streak::default(), None);
                self.tried &= heard.attempts > 0;
            }
            Sign::Answers if self.open.is_none() => {
                (self.streak, self.seen_since) = (Streak::default(), None);
            }
            Sign::Fails | Sign::Hangs
                if self.open.is_none() && (heard.attempts > 0 || !self.tried) =>
            {
                self.streak.add(heard.lane);
            }
            _ => {}
        }
    }

    fn begin(&mut self, seen: bool, (now, random): (Instant, f64)) -> Reaction {
        let since = if seen {
            *self.seen_since.get_or_insert(now)
        } else {
            now
        };
        self.streak = Streak::default();
        self.open = Some(Open {
            until: now + spread(FIRST_PAUSE, random),
            pause: FIRST_PAUSE,
            under_way: 0,
            left: 0,
            width: 1,
            believed_until: since + LONGEST_UNREPORTED,
            seen,
        });
        Reaction {
            change: Some(OutageChange::Began),
            given_back: now < since + LONGEST_UNREPORTED,
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
    fn begin_round(&mut self) {
        let longest = if self.seen {
            LONGEST_SEEN_PAUSE
        } else {
            LONGEST_PAUSE
        };
        self.pause = (self.pause * 2).min(longest);
        if self.seen {
            self.left = self.width - 1;
            self.width = (self.width * 2).min(WIDEST);
        }
    }

    fn fail(&mut self, now: Instant, random: f64) {
        self.under_way = self.under_way.saturating_sub(1);
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
mod tests;
