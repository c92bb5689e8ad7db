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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use outbox_tests::history::Log;
    use tempfile::TempDir;

    struct Scene {
        log: Log,
        tail: Tail,
        _folder: TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let log = Log::open(&folder.path().join("log"), "chaos");
            Self {
                tail: Tail::open(log.path()).unwrap(),
                log,
                _folder: folder,
            }
        }

        /// How often this fault has struck by now, and how often in work.
        fn strikes(&mut self, fault: Fault) -> (usize, usize) {
            self.tail.catch_up().unwrap();
            let strikes = self.tail.strikes.get(&fault).copied().unwrap_or_default();
            (strikes.all, strikes.in_work)
        }
    }

    const ID: Uuid = Uuid::from_u128(7);

    #[test]
    fn a_strike_with_nothing_in_work_counts_as_none() {
        let mut scene = Scene::new();
        let (d0, all) = (scene.log.by("d0"), scene.log.by("*"));
        all.about(What::Struck, "restart-1");
        d0.about(What::Struck, "kill-2");
        assert_eq!(scene.strikes(Fault::Restart), (1, 0));
        assert_eq!(scene.strikes(Fault::Kill), (1, 0));
        d0.started("x", ID).succeeded();
        all.about(What::Struck, "restart-3");
        d0.about(What::Struck, "kill-4");
        assert_eq!(scene.strikes(Fault::Restart), (2, 0), "it had ended");
        assert_eq!(scene.strikes(Fault::Kill), (2, 0), "it had ended");
    }

    #[test]
    fn a_strike_is_in_work_if_its_victim_is() {
        let mut scene = Scene::new();
        let (d0, d1) = (scene.log.by("d0"), scene.log.by("d1"));
        d1.started("y", ID).succeeded();
        let run = d0.started("x", ID);
        d1.about(What::Struck, "freeze-1");
        assert_eq!(scene.strikes(Fault::Freeze), (1, 0), "another one works");
        d0.about(What::Struck, "freeze-2");
        assert_eq!(scene.strikes(Fault::Freeze), (2, 1));
        for by in ["*", "w0"] {
            scene.log.by(by).about(What::Struck, "disconnect-3");
        }
        let anybody = scene.strikes(Fault::Disconnect);
        assert_eq!(anybody, (2, 2), "of no dispatcher: anybody's work counts");
        scene.tail.forget("d0");
        scene.log.by("*").about(What::Struck, "restart-4");
        assert_eq!(scene.strikes(Fault::Restart), (1, 0), "it is no more");
        run.succeeded();
    }

    #[test]
    fn handlers_that_strike_are_in_work() {
        let mut scene = Scene::new();
        let d0 = scene.log.by("d0");
        let run = d0.started("x", ID);
        d0.about(What::Struck, "hang");
        run.failed();
        assert_eq!(scene.strikes(Fault::Hang), (1, 1));
    }

    #[test]
    fn a_stall_within_a_fault_is_not_counted() {
        let mut scene = Scene::new();
        let d0 = scene.log.by("d0");
        d0.about(What::Fault, "freeze-1");
        d0.about(What::Fault, "stall-0");
        d0.about(What::Over, "freeze-1");
        scene.tail.catch_up().unwrap();
        assert_eq!(scene.tail.stalls, 0);
        d0.about(What::Fault, "stall-1");
        scene.tail.catch_up().unwrap();
        assert_eq!(scene.tail.stalls, 1);
    }
}
