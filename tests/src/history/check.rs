use super::{Record, Rule, Violation, What, runs::Aggregate, window::Windows};
use std::collections::{BTreeMap, HashSet};
use uuid::Uuid;

/// Records in the order in which they were written.
#[derive(Debug, Clone, Default)]
pub struct History(Vec<Record>);

/// What a history that kept to the rules consisted of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Events.
    pub events: usize,
    /// Calls of handlers.
    pub starts: usize,
    /// Calls for events that had succeeded before.
    pub duplicates: usize,
}

impl FromIterator<Record> for History {
    fn from_iter<I: IntoIterator<Item = Record>>(records: I) -> Self {
        Self(records.into_iter().collect())
    }
}

impl History {
    /// The records.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.0
    }

    /// A discard is written down before it is tried, and may come too late: it excuses something only
    /// if the outbox itself has recorded that it took the event out.
    #[must_use]
    pub fn taken_out(mut self, recorded: &HashSet<Uuid>) -> Self {
        for record in &mut self.0 {
            if record.what == What::Discarded && !recorded.contains(&record.id) {
                record.what = What::Refused;
            }
        }
        self
    }

    /// How many events have succeeded or were given up so far.
    #[must_use]
    pub fn settled(&self) -> usize {
        let settled = |record: &&Record| matches!(record.what, What::Succeeded | What::Dead);
        let ids = self.0.iter().filter(settled).map(|record| record.id);
        ids.collect::<HashSet<_>>().len()
    }

    /// Checks every [`Rule`].
    ///
    /// # Errors
    /// All violations, in the order of the records that broke a rule.
    pub fn check(&self) -> Result<Report, Vec<Violation>> {
        let (report, violations) = self.examine();
        if violations.is_empty() {
            Ok(report)
        } else {
            Err(violations)
        }
    }

    /// What there was, and what broke a rule.
    #[must_use]
    pub fn examine(&self) -> (Report, Vec<Violation>) {
        let mut check = Check {
            aggregates: BTreeMap::new(),
            windows: Windows::of(&self.0),
            report: Report::default(),
            violations: Vec::new(),
        };
        // A handler may run before the emitter has written its line: the order of the lines counts
        // among the emitted ones only.
        for record in &self.0 {
            check.emit(record);
        }
        for (at, record) in self.0.iter().enumerate() {
            check.see(record, at);
        }
        check.finish(self.0.len());
        (check.report, check.violations)
    }

    /// Checks every rule.
    ///
    /// # Panics
    /// When one is broken, with the aggregate's records.
    pub fn assert_clean(&self) -> Report {
        match self.check() {
            Ok(report) => report,
            Err(violations) => {
                let first = &violations[0];
                let lines = self.story(first);
                let count = violations.len();
                assert_eq!(count, 0, "first of {count}: {first}\n{lines}");
                Report::default()
            }
        }
    }

    /// The records that a violation is about: its aggregate's, and the faults.
    #[must_use]
    pub fn story(&self, violation: &Violation) -> String {
        let faults = [What::Fault, What::Outage, What::Over, What::Surveyed];
        let lines = self.0.iter().enumerate().filter(|(_, record)| {
            record.aggregate == violation.aggregate
                || record.id == violation.id
                || faults.contains(&record.what)
        });
        lines
            .map(|(at, record)| format!("{}: {record}\n", at + 1))
            .collect()
    }
}

struct Check<'a> {
    aggregates: BTreeMap<&'a str, Aggregate<'a>>,
    windows: Windows<'a>,
    report: Report,
    violations: Vec<Violation>,
}

impl<'a> Check<'a> {
    fn emit(&mut self, record: &'a Record) {
        let aggregate = match record.what {
            What::Emitted | What::Delayed => self.aggregates.entry(&record.aggregate).or_default(),
            _ => return,
        };
        self.report.events += 1;
        match record.what {
            What::Delayed => aggregate.delayed(record.id),
            _ => aggregate.emitted(record.id),
        }
    }

    fn see(&mut self, record: &'a Record, at: usize) {
        match record.what {
            What::Discarded => {
                let aggregate = self.aggregates.entry(&record.aggregate).or_default();
                if !aggregate.discarded(record.id) {
                    self.broken(Rule::NothingIsInvented, record, at);
                }
            }
            What::Retried => {
                let aggregate = self.aggregates.entry(&record.aggregate).or_default();
                aggregate.retried(record.id);
            }
            What::Started => self.start(record, at),
            What::Succeeded | What::Failed | What::Dead | What::Dropped => {
                let aggregate = self.aggregates.entry(&record.aggregate).or_default();
                if !aggregate.ended(record, at) {
                    self.broken(Rule::EndsFollowStarts, record, at);
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, record: &'a Record, at: usize) {
        self.report.starts += 1;
        let windows = &self.windows;
        let aggregate = self.aggregates.entry(&record.aggregate).or_default();
        let Some(place) = aggregate.place(record.id) else {
            return self.broken(Rule::NothingIsInvented, record, at);
        };
        let mut rules = Vec::new();
        let mut overlap = aggregate.open().iter();
        if overlap.any(|run| !windows.stood_still(run.by, run.since, at)) {
            rules.push(Rule::OneAtATime);
        }
        if aggregate.overtakes(record, place) || aggregate.misplaces(record, place) {
            rules.push(Rule::InOrder);
        } else if aggregate.jumps(place) {
            rules.push(Rule::SuffixesRepeat);
        }
        if let Some(known) = aggregate.known.get(&record.id) {
            if let Some((run, end)) = known.success {
                self.report.duplicates += 1;
                if !windows.unconfirmed(run.by, record.id, (run.since, end), at) {
                    rules.push(Rule::DuplicatesAreExplained);
                }
            }
            if !known.attempts.allow(record.attempt, record.id, windows, at) {
                rules.push(Rule::AttemptsAreCounted);
            }
        } else if record.attempt > 1 {
            rules.push(Rule::AttemptsAreCounted);
        }
        aggregate.started(record, at, place);
        for rule in rules {
            self.broken(rule, record, at);
        }
    }

    fn finish(&mut self, at: usize) {
        let mut missing = Vec::new();
        for (name, aggregate) in &self.aggregates {
            let lost = aggregate.lost();
            missing.extend(lost.map(|id| (Rule::NothingIsLost, *name, id)));
            let unrepeated = aggregate.unrepeated().into_iter();
            missing.extend(unrepeated.map(|id| (Rule::SuffixesRepeat, *name, id)));
        }
        for (rule, aggregate, id) in missing {
            let record = Record::new(What::Emitted, "-", aggregate, id);
            self.broken(rule, &record, at);
        }
    }

    fn broken(&mut self, rule: Rule, record: &Record, at: usize) {
        self.violations.push(Violation::new(rule, record, at));
    }
}
