use super::fault::{self, Fault};
use outbox_tests::history::{Record, What};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{self, Read},
    path::Path,
};
use uuid::Uuid;

/// Reads the log while it grows.
#[derive(Debug)]
pub(crate) struct Tail {
    file: File,
    /// The beginning of a line.
    rest: String,
    /// By process: what is in work.
    open: HashMap<String, HashSet<Uuid>>,
    /// By process: the events of which it has ended a delivery.
    ended: HashMap<String, HashSet<Uuid>>,
    /// Whom a fault befalls.
    befallen: HashMap<String, usize>,
    pub(crate) strikes: BTreeMap<Fault, Strikes>,
    /// How often the machine or the database stood still without being asked to.
    pub(crate) stalls: usize,
}

/// How often a fault struck.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Strikes {
    pub(crate) all: usize,
    pub(crate) in_work: usize,
}

impl Tail {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
            rest: String::new(),
            open: HashMap::new(),
            ended: HashMap::new(),
            befallen: HashMap::new(),
            strikes: BTreeMap::new(),
            stalls: 0,
        })
    }

    /// Reads what was written since.
    pub(crate) fn catch_up(&mut self) -> Result<(), String> {
        let read = self.file.read_to_string(&mut self.rest);
        read.map_err(|error| format!("the log: {error}"))?;
        let whole = self.rest.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.rest.split_off(whole);
        let text = std::mem::replace(&mut self.rest, rest);
        for line in text.lines() {
            self.see(&line.parse()?);
        }
        Ok(())
    }

    fn see(&mut self, record: &Record) {
        let by = || record.by.clone();
        match record.what {
            What::Started => {
                self.open.entry(by()).or_default().insert(record.id);
            }
            What::Succeeded | What::Failed | What::Dead | What::Dropped => {
                self.open.entry(by()).or_default().remove(&record.id);
                if record.what != What::Dropped {
                    self.ended.entry(by()).or_default().insert(record.id);
                }
            }
            What::Fault if record.aggregate.starts_with("stall") => {
                let is_news = self
                    .befallen
                    .get(&record.by)
                    .is_none_or(|faults| *faults == 0);
                self.stalls += usize::from(is_news);
            }
            What::Fault | What::Outage => *self.befallen.entry(by()).or_default() += 1,
            What::Over => {
                let faults = self.befallen.entry(by()).or_default();
                *faults = faults.saturating_sub(1);
            }
            What::Struck => {
                let word = record.aggregate.split('-').next().unwrap_or_default();
                let all = fault::ALL.iter().find(|(_, name)| *name == word);
                let is_dispatcher = self.open.contains_key(&record.by);
                let in_work = self.is_in_work(is_dispatcher.then_some(&record.by));
                if let Some((fault, _)) = all {
                    let strikes = self.strikes.entry(*fault).or_default();
                    strikes.all += 1;
                    strikes.in_work += usize::from(in_work);
                }
            }
            _ => {}
        }
    }

    /// Whether an event is in work: in this process, or in any.
    pub(crate) fn is_in_work(&self, by: Option<&str>) -> bool {
        match by {
            Some(by) => self.open.get(by).is_some_and(|open| !open.is_empty()),
            None => self.open.values().any(|open| !open.is_empty()),
        }
    }

    /// The events of which this process, or any, has ended a delivery.
    pub(crate) fn ended(&self, by: Option<&str>) -> HashSet<Uuid> {
        match by {
            Some(by) => self.ended.get(by).cloned().unwrap_or_default(),
            None => self.ended.values().flatten().copied().collect(),
        }
    }

    /// A process is no more.
    pub(crate) fn forget(&mut self, by: &str) {
        self.open.remove(by);
    }
}
