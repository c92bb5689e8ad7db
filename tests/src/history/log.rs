use super::{History, Record, Run, What};
use outbox_core::Delivery;
use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

/// An append-only file of records, as one dispatcher, emitter or test writes it.
#[derive(Debug, Clone)]
pub struct Log {
    path: PathBuf,
    file: Arc<File>,
    by: String,
}

impl Log {
    /// Opens the file, or makes it. `by` is a name without spaces.
    #[must_use]
    pub fn open(path: &Path, by: &str) -> Self {
        let file = OpenOptions::new().append(true).create(true).open(path);
        Self {
            path: path.to_owned(),
            file: Arc::new(file.unwrap()),
            by: by.to_owned(),
        }
    }

    /// The same file under another name.
    #[must_use]
    pub fn by(&self, by: &str) -> Self {
        Self {
            by: by.to_owned(),
            ..self.clone()
        }
    }

    /// The event's transaction has committed.
    pub fn emitted(&self, aggregate: &str, id: Uuid) {
        self.write(&Record::new(What::Emitted, &self.by, aggregate, id));
    }

    /// The same of a delayed event.
    pub fn delayed(&self, aggregate: &str, id: Uuid) {
        self.write(&Record::new(What::Delayed, &self.by, aggregate, id));
    }

    /// An operator is about to discard or skip the event.
    pub fn discarded(&self, aggregate: &str, id: Uuid) {
        self.write(&Record::new(What::Discarded, &self.by, aggregate, id));
    }

    /// An operator is about to give the dead letter another chance.
    pub fn retried(&self, aggregate: &str, id: Uuid) {
        self.write(&Record::new(What::Retried, &self.by, aggregate, id));
    }

    /// Something befell this dispatcher.
    pub fn fault(&self) {
        self.write(&Record::fault(&self.by));
    }

    /// Says how far a fault of this name is.
    pub fn about(&self, what: What, fault: &str) {
        self.write(&Record::new(what, &self.by, fault, Uuid::nil()));
    }

    /// The database still has the event's row at this moment of the fault.
    pub fn unsettled(&self, fault: &str, id: Uuid) {
        self.write(&Record::new(What::Unsettled, &self.by, fault, id));
    }

    /// A handler has been called. Unless it says how it ended, it was dropped.
    #[must_use]
    pub fn started(&self, aggregate: &str, id: Uuid) -> Run {
        self.run(Record::new(What::Started, &self.by, aggregate, id))
    }

    /// A handler has been called, with all that it was told.
    #[must_use]
    pub fn delivery(&self, aggregate: &str, delivery: &Delivery) -> Run {
        let mut record = Record::new(What::Started, &self.by, aggregate, delivery.id());
        record.position = delivery.position();
        record.attempt = delivery.attempt();
        self.run(record)
    }

    fn run(&self, record: Record) -> Run {
        self.write(&record);
        Run::new(self.clone(), record)
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything that was written so far.
    #[must_use]
    pub fn history(&self) -> History {
        let text = std::fs::read_to_string(&self.path).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// One `write` to a file opened for appending: lines of several processes do not mix, and what
    /// a process has written outlives it.
    pub(super) fn write(&self, record: &Record) {
        let line = format!("{record}\n");
        let written = (&*self.file).write(line.as_bytes()).unwrap();
        assert_eq!(written, line.len());
    }
}
