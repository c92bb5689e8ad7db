//! When a dispatcher says that it sleeps, so that whoever commits wakes it: a decision without IO.

use crate::store::Horizon;
use std::time::Duration;
use tokio::time::Instant;

/// What a dispatcher has said of itself, and how often it was woken.
///
/// While somebody sleeps, every commit has to wake them, which slows down commits: so sleeps who is
/// idle, and not who is woken all the time.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    asleep: Option<Asleep>,
    /// Not again before then.
    awake_until: Option<Instant>,
    finds: Rate,
    false_alarms: Rate,
}

/// Since it was said.
#[derive(Debug, Default)]
struct Asleep {
    /// The next transaction id at a read since then: whoever was in the middle of a transaction
    /// when it was said, and wakes nobody, has a lower one.
    bound: Option<u64>,
    /// All of those have ended, and what they wrote was read.
    deep: bool,
}

/// A read, as it bears on sleeping.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// It found new events.
    pub(crate) found: bool,
    /// A commit was heard of before it.
    pub(crate) woken: bool,
    /// There is something that commits can be about, and they are heard of.
    pub(crate) hears: bool,
    /// There was nothing to do for a while.
    pub(crate) idle: bool,
}

/// So often in a second is all the time: who is awake polls no less often.
const OFTEN: u32 = 50;

const SECOND: Duration = Duration::from_secs(1);

/// How long to stay awake after being woken for the events of others: they go on, as a rule.
const DISTURBED: Duration = Duration::from_secs(10);

impl Sleep {
    /// What is to be said after a read, if it is not what was said before.
    pub(crate) fn after(&mut self, look: Look, now: Instant) -> Option<bool> {
        let busy = look.found && self.finds.is_often(now);
        let disturbed = look.woken && !look.found && self.false_alarms.is_often(now);
        if disturbed {
            self.awake_until = Some(now + DISTURBED);
        } else if busy {
            self.awake_until = self.awake_until.max(Some(now + SECOND));
        }
        let may = look.hears && self.awake_until.is_none_or(|until| now >= until);
        match self.asleep {
            None => (may && look.idle).then_some(true),
            Some(_) => (!may).then_some(false),
        }
    }

    /// It was said.
    pub(crate) fn said(&mut self, asleep: bool) {
        self.asleep = asleep.then(Asleep::default);
    }

    /// Looks at what a read proves; `true` once every commit is heard of. Until then polling is as
    /// good as all there is, and so it is for a snapshot that was taken before it was said and is
    /// written with later.
    pub(crate) fn is_deep(&mut self, horizon: Horizon) -> bool {
        let Some(asleep) = &mut self.asleep else {
            return false;
        };
        if let Horizon::Transactions { next, oldest } = horizon {
            asleep.deep |= oldest >= *asleep.bound.get_or_insert(next);
        }
        asleep.deep
    }
}

/// Counts within a second.
#[derive(Debug, Default)]
struct Rate {
    since: Option<Instant>,
    count: u32,
}

impl Rate {
    /// Once more.
    fn is_often(&mut self, now: Instant) -> bool {
        if self.since.is_none_or(|since| now >= since + SECOND) {
            (self.since, self.count) = (Some(now), 0);
        }
        self.count += 1;
        self.count >= OFTEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Look = Look {
        found: false,
        woken: false,
        hears: true,
        idle: true,
    };

    const FOUND: Look = Look {
        found: true,
        woken: true,
        hears: true,
        idle: false,
    };

    fn asleep(now: Instant) -> Sleep {
        let mut sleep = Sleep::default();
        assert_eq!(sleep.after(IDLE, now), Some(true));
        sleep.said(true);
        sleep
    }

    #[tokio::test]
    async fn who_is_idle_and_hears_sleeps_and_says_it_once() {
        let now = Instant::now();
        let mut sleep = Sleep::default();
        let (deaf, busy) = (
            Look {
                hears: false,
                ..IDLE
            },
            Look {
                idle: false,
                ..IDLE
            },
        );
        assert_eq!(sleep.after(deaf, now), None);
        assert_eq!(sleep.after(busy, now), None);
        let mut sleep = asleep(now);
        assert_eq!(sleep.after(IDLE, now), None);
        assert_eq!(sleep.after(busy, now), None);
        assert_eq!(sleep.after(deaf, now), Some(false));
    }

    #[tokio::test]
    async fn what_could_not_be_said_is_said_again() {
        let now = Instant::now();
        let mut sleep = Sleep::default();
        assert_eq!(sleep.after(IDLE, now), Some(true));
        assert_eq!(sleep.after(IDLE, now), Some(true));
    }

    #[tokio::test]
    async fn an_event_now_and_then_leaves_it_asleep() {
        let start = Instant::now();
        let mut sleep = asleep(start);
        for step in 0..400 {
            assert_eq!(sleep.after(FOUND, start + SECOND / 40 * step), None);
        }
    }

    #[tokio::test]
    async fn who_is_woken_all_the_time_stays_awake() {
        let false_alarm = Look {
            found: false,
            ..FOUND
        };
        for (look, pause) in [(FOUND, SECOND), (false_alarm, DISTURBED)] {
            let start = Instant::now();
            let mut sleep = asleep(start);
            for _ in 1..OFTEN {
                assert_eq!(sleep.after(look, start), None);
            }
            assert_eq!(sleep.after(look, start), Some(false));
            sleep.said(false);
            assert_eq!(sleep.after(IDLE, start + pause / 2), None);
            assert_eq!(sleep.after(IDLE, start + pause), Some(true));
        }
    }

    #[tokio::test]
    async fn it_sleeps_deeply_once_the_writers_of_that_time_have_ended() {
        let seen = |next, oldest| Horizon::Transactions { next, oldest };
        let mut sleep = asleep(Instant::now());
        assert!(!sleep.is_deep(seen(8, 5)));
        assert!(!sleep.is_deep(seen(12, 7)));
        assert!(sleep.is_deep(seen(12, 8)));
        assert!(sleep.is_deep(seen(20, 3)), "whoever is new wakes it");
        sleep.said(false);
        assert!(!sleep.is_deep(seen(30, 30)));
        sleep.said(true);
        assert!(!sleep.is_deep(Horizon::Open));
        assert!(sleep.is_deep(seen(30, 30)), "nobody was there");
    }
}
