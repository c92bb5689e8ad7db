use std::{fmt, str::FromStr};
use uuid::Uuid;

/// One line of a log. Lines stand in the order in which things happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What happened.
    pub what: What,
    /// Which dispatcher, emitter or test says so; `*` for all dispatchers.
    pub by: String,
    /// The event's aggregate; for what befalls a whole dispatcher, a name of the fault.
    pub aggregate: String,
    /// The event; nil for what befalls a whole dispatcher.
    pub id: Uuid,
    /// The event's position, where a handler knows it; 0 otherwise.
    pub position: i64,
    /// Which attempt a handler was called for, from 1; 0 where that is not known.
    pub attempt: u32,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The event's transaction committed. The order of these lines is the order of the events.
    Emitted,
    /// The same of a delayed event: it has no place before it is due.
    Delayed,
    /// A handler was called.
    Started,
    /// It returned `Ok`.
    Succeeded,
    /// It returned an error, panicked or took too long: the event keeps its place.
    Failed,
    /// It gave the event up, or failed for the last time that the event may.
    Dead,
    /// It was dropped at an await.
    Dropped,
    /// An operator is about to discard or skip it: it need not be handled any more.
    Discarded,
    /// An operator was about to, and it was not done: it is to be handled like any other.
    Refused,
    /// An operator is about to give a dead letter another chance: its attempts start over, and what
    /// stands behind it goes on waiting.
    Retried,
    /// The dispatcher was killed or stood still: from here on its handlers may have done what
    /// nobody wrote down.
    Fault,
    /// The dispatcher could not reach its database, or might not have heard its answers.
    Outage,
    /// At this moment of a fault, the database still had the event's row.
    Unsettled,
    /// All rows that the database still had have been written down: whatever else had succeeded
    /// before the fault was settled.
    Surveyed,
    /// The fault is over, and the dispatcher has renewed its lease since.
    Over,
    /// A fault of this name struck. It explains nothing by itself.
    Struck,
}

const WORDS: [(What, &str); 16] = [
    (What::Emitted, "emitted"),
    (What::Delayed, "delayed"),
    (What::Started, "started"),
    (What::Succeeded, "succeeded"),
    (What::Failed, "failed"),
    (What::Dead, "dead"),
    (What::Dropped, "dropped"),
    (What::Discarded, "discarded"),
    (What::Refused, "refused"),
    (What::Retried, "retried"),
    (What::Fault, "fault"),
    (What::Outage, "outage"),
    (What::Unsettled, "unsettled"),
    (What::Surveyed, "surveyed"),
    (What::Over, "over"),
    (What::Struck, "struck"),
];

impl Record {
    /// A record about an event.
    #[must_use]
    pub fn new(what: What, by: &str, aggregate: &str, id: Uuid) -> Self {
        Self {
            what,
            by: by.to_owned(),
            aggregate: aggregate.to_owned(),
            id,
            position: 0,
            attempt: 0,
        }
    }

    /// A record about a dispatcher.
    #[must_use]
    pub fn fault(by: &str) -> Self {
        Self::new(What::Fault, by, "-", Uuid::nil())
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = WORDS.iter().find(|(what, _)| *what == self.what);
        let word = word.map_or("", |(_, word)| word);
        let Self {
            by, aggregate, id, ..
        } = self;
        write!(f, "{word} {by} {aggregate} {id}")?;
        if self.attempt > 0 {
            write!(f, " {} {}", self.position, self.attempt)?;
        }
        Ok(())
    }
}

impl FromStr for Record {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let bad = || format!("not a record: {line:?}");
        let words: Vec<_> = line.split(' ').collect();
        let [what, by, aggregate, id, ref delivery @ ..] = words[..] else {
            return Err(bad());
        };
        let what = WORDS.iter().find(|(_, word)| *word == what);
        let (what, _) = what.ok_or_else(bad)?;
        let id = id.parse().map_err(|_| bad())?;
        let mut record = Self::new(*what, by, aggregate, id);
        match delivery {
            [] => {}
            [position, attempt] => {
                record.position = position.parse().map_err(|_| bad())?;
                record.attempt = attempt.parse().map_err(|_| bad())?;
            }
            _ => return Err(bad()),
        }
        Ok(record)
    }
}
