use super::window::Windows;
use uuid::Uuid;

/// Which attempt the next delivery of an event must be.
#[derive(Debug, Default)]
pub(super) struct Attempts<'a> {
    /// What the last delivery was told.
    last: u32,
    /// The deliveries since that did not end well.
    ends: Vec<End<'a>>,
    /// An operator may have given it another chance: they may start over.
    may_restart: bool,
}

#[derive(Debug)]
struct End<'a> {
    by: &'a str,
    /// The records from its start to its end.
    run: (usize, usize),
    /// Whether the handler was dropped, and not because it took too long by its own clock.
    was_dropped: bool,
}

impl<'a> Attempts<'a> {
    pub(super) fn ended(&mut self, by: &'a str, run: (usize, usize), was_dropped: bool) {
        self.ends.push(End {
            by,
            run,
            was_dropped,
        });
    }

    /// Every failure counts once; one that may not have been written may not count. A process that
    /// stood still may have taken too long with what it drops, without the handler's knowing.
    pub(super) fn allow(&self, attempt: u32, id: Uuid, windows: &Windows<'_>, now: usize) -> bool {
        let counts =
            |end: &&End<'_>| !end.was_dropped && !windows.unconfirmed(end.by, id, end.run, now);
        let may_count =
            |end: &&End<'_>| !end.was_dropped || windows.stood_still(end.by, end.run.0, now);
        let last = self.last.max(1) as usize;
        let least = last + self.ends.iter().filter(counts).count();
        let most = last + self.ends.iter().filter(may_count).count();
        attempt == 0
            || attempt == 1 && self.may_restart
            || (least..=most).contains(&(attempt as usize))
    }

    pub(super) fn retried(&mut self) {
        self.may_restart = true;
    }

    pub(super) fn started(&mut self, attempt: u32) {
        self.last = attempt;
        self.ends.clear();
        self.may_restart = false;
    }
}
