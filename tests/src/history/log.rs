use super::{History, Record, What};
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

    /// Something befell this dispatcher.
    pub fn fault(&self) {
        self.write(&Record::fault(&self.by));
    }

    /// A handler has been called. Unless it says how it ended, it was dropped.
    #[must_use]
    pub fn started(&self, aggregate: &str, id: Uuid) -> Run {
        let mut run = Run {
            log: self.clone(),
            record: Record::new(What::Started, &self.by, aggregate, id),
        };
        self.write(&run.record);
        run.record.what = What::Dropped;
        run
    }

    /// Everything that was written so far.
    #[must_use]
    pub fn history(&self) -> History {
        let text = std::fs::read_to_string(&self.path).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// One `write` to a file opened for appending: lines of several processes do not mix.
    fn write(&self, record: &Record) {
        let line = format!("{record}\n");
        let written = (&*self.file).write(line.as_bytes()).unwrap();
        assert_eq!(written, line.len());
    }
}

/// A handler that is running.
#[derive(Debug)]
pub struct Run {
    log: Log,
    record: Record,
}

impl Run {
    /// It is about to return `Ok`.
    pub fn succeeded(self) {
        self.ended(What::Succeeded);
    }

    /// It is about to return an error.
    pub fn failed(self) {
        self.ended(What::Failed);
    }

    /// It is about to give the event up.
    pub fn dead(self) {
        self.ended(What::Dead);
    }

    fn ended(mut self, what: What) {
        self.record.what = what;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.log.write(&self.record);
    }
}
