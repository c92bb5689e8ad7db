use super::{Record, What};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// A fault of a dispatcher, from when it struck until the dispatcher was itself again.
#[derive(Debug)]
pub(super) struct Window {
    begin: usize,
    /// Where nobody said that it was over: at once.
    end: usize,
    /// The process could not do anything, not even drop its handlers.
    stood_still: bool,
    /// What the database still had when the fault struck, if somebody looked.
    unsettled: Option<HashSet<Uuid>>,
}

/// All faults of a history. Numbers are those of records.
#[derive(Debug, Default)]
pub(super) struct Windows<'a> {
    by: HashMap<&'a str, Vec<(&'a str, Window)>>,
}

/// Whoever has this name is everybody.
const ALL: &str = "*";
/// A process found out by itself that it had not run for a while.
const STALL: &str = "stall";

impl<'a> Windows<'a> {
    pub(super) fn of(records: &'a [Record]) -> Self {
        let mut windows = Self::default();
        for (at, record) in records.iter().enumerate() {
            windows.see(record, at);
        }
        windows
    }

    fn see(&mut self, record: &'a Record, at: usize) {
        let stood_still = match record.what {
            What::Fault => true,
            What::Outage => false,
            What::Unsettled | What::Surveyed | What::Over => return self.more(record, at),
            _ => return,
        };
        let windows = self.by.entry(&record.by).or_default();
        // What was frozen finds out when it goes on: nothing new.
        let known = windows.iter().any(|(_, window)| window.end == usize::MAX);
        if record.aggregate.starts_with(STALL) && known {
            return;
        }
        let named = record.aggregate != "-" && !record.aggregate.starts_with(STALL);
        let window = Window {
            begin: at,
            end: if named { usize::MAX } else { at },
            stood_still,
            unsettled: None,
        };
        windows.push((&record.aggregate, window));
    }

    fn more(&mut self, record: &'a Record, at: usize) {
        let windows = self.by.entry(&record.by).or_default();
        let named = |(name, _): &&mut (&str, Window)| *name == record.aggregate;
        let Some((_, window)) = windows.iter_mut().rev().find(named) else {
            return;
        };
        match record.what {
            What::Over => window.end = at,
            What::Surveyed => {
                window.unsettled.get_or_insert_default();
            }
            _ => {
                window.unsettled.get_or_insert_default().insert(record.id);
            }
        }
    }

    fn all(&self, by: &str) -> impl Iterator<Item = &Window> {
        let of = |by: &str| self.by.get(by).map_or(&[][..], Vec::as_slice);
        of(by).iter().chain(of(ALL)).map(|(_, window)| window)
    }

    /// Whether a delivery that started then may still have been under way `now`, unknown to all.
    pub(super) fn stood_still(&self, by: &str, start: usize, now: usize) -> bool {
        self.all(by)
            .any(|window| window.stood_still && window.end > start && window.begin < now)
    }

    /// Whether the outcome of a delivery may not have been written. It may have been if it arose
    /// within a fault; before one, only if the database still had the row when the fault struck.
    pub(super) fn unconfirmed(
        &self,
        by: &str,
        id: Uuid,
        (start, end): (usize, usize),
        now: usize,
    ) -> bool {
        let mut windows = self.all(by);
        windows.any(|window| {
            let at_all = window.begin < now && start < window.end;
            at_all
                && match &window.unsettled {
                    None => true,
                    Some(unsettled) if end < window.begin => unsettled.contains(&id),
                    Some(_) => end < window.end,
                }
        })
    }
}
