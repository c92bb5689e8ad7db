use super::{Record, Rule, Violation, What, runs::Aggregate};
use std::collections::BTreeMap;

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

    /// How many events have succeeded or were given up so far.
    #[must_use]
    pub fn settled(&self) -> usize {
        let settled = |record: &&Record| matches!(record.what, What::Succeeded | What::Dead);
        let ids = self.0.iter().filter(settled).map(|record| record.id);
        ids.collect::<std::collections::HashSet<_>>().len()
    }

    /// Checks every [`Rule`].
    ///
    /// # Errors
    /// All violations, in the order of the records that broke a rule.
    pub fn check(&self) -> Result<Report, Vec<Violation>> {
        let mut check = Check::default();
        // A handler may run before the emitter has written its line: the order of the lines counts
        // among the emitted ones only.
        for record in self.0.iter().filter(|record| record.what == What::Emitted) {
            check.report.events += 1;
            let aggregate = check.aggregates.entry(&record.aggregate).or_default();
            aggregate.emitted(record.id);
        }
        for (at, record) in self.0.iter().enumerate() {
            check.see(record, at);
        }
        check.finish(self.0.len());
        if check.violations.is_empty() {
            Ok(check.report)
        } else {
            Err(check.violations)
        }
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
                let lines = self.0.iter().enumerate().filter(|(_, record)| {
                    record.aggregate == first.aggregate || record.what == What::Fault
                });
                let lines = lines.map(|(at, record)| format!("{}: {record}\n", at + 1));
                let lines: String = lines.collect();
                let count = violations.len();
                assert_eq!(count, 0, "first of {count}: {first}\n{lines}");
                Report::default()
            }
        }
    }
}

#[derive(Default)]
struct Check<'a> {
    aggregates: BTreeMap<&'a str, Aggregate<'a>>,
    /// By dispatcher: the records of its faults.
    faults: BTreeMap<&'a str, Vec<usize>>,
    report: Report,
    violations: Vec<Violation>,
}

impl<'a> Check<'a> {
    fn see(&mut self, record: &'a Record, at: usize) {
        match record.what {
            What::Emitted => {}
            What::Fault => self.faults.entry(&record.by).or_default().push(at),
            What::Started => self.start(record, at),
            What::Succeeded | What::Failed | What::Dead | What::Dropped => {
                let aggregate = self.aggregates.entry(&record.aggregate).or_default();
                if !aggregate.ended(record) {
                    self.broken(Rule::EndsFollowStarts, record, at);
                }
            }
        }
    }

    fn start(&mut self, record: &'a Record, at: usize) {
        self.report.starts += 1;
        let faults = &self.faults;
        // Anything that befell the dispatcher since, explains.
        let fault_since = |by: &str, since: usize| {
            let faults = faults.get(by).map_or(&[][..], Vec::as_slice);
            faults.iter().any(|fault| *fault > since)
        };
        let aggregate = self.aggregates.entry(&record.aggregate).or_default();
        let Some(place) = aggregate.place(record.id) else {
            return self.broken(Rule::NothingIsInvented, record, at);
        };
        let mut rules = Vec::new();
        let overlap = aggregate.open().iter();
        if overlap
            .filter(|run| !fault_since(run.by, run.since))
            .count()
            > 0
        {
            rules.push(Rule::OneAtATime);
        }
        if (0..place).any(|before| !aggregate.is_settled(before)) {
            rules.push(Rule::InOrder);
        } else if aggregate.jumps(place) {
            rules.push(Rule::SuffixesRepeat);
        }
        if let Some(success) = aggregate.success_of(record.id) {
            self.report.duplicates += 1;
            if !fault_since(success.by, success.since) {
                rules.push(Rule::DuplicatesAreExplained);
            }
        }
        aggregate.started(record, at, place);
        for rule in rules {
            self.broken(rule, record, at);
        }
    }

    fn finish(&mut self, at: usize) {
        let mut missing = Vec::new();
        for (name, aggregate) in &self.aggregates {
            let places = aggregate.events.iter().enumerate();
            let lost = places.filter(|(place, _)| !aggregate.is_settled(*place));
            missing.extend(lost.map(|(_, id)| (Rule::NothingIsLost, *name, *id)));
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
