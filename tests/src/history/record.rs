use std::{fmt, str::FromStr};
use uuid::Uuid;

/// One line of a log. Lines stand in the order in which things happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What happened.
    pub what: What,
    /// Which dispatcher, emitter or test says so.
    pub by: String,
    /// The event's aggregate; `-` for what befalls a whole dispatcher.
    pub aggregate: String,
    /// The event; nil for what befalls a whole dispatcher.
    pub id: Uuid,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The event's transaction committed. The order of these lines is the order of the events.
    Emitted,
    /// A handler was called.
    Started,
    /// It returned `Ok`.
    Succeeded,
    /// It returned an error: the event keeps its place.
    Failed,
    /// It gave the event up.
    Dead,
    /// It was dropped at an await.
    Dropped,
    /// The dispatcher was killed, frozen, aborted or cut off: from here on its handlers may have
    /// done what nobody wrote down.
    Fault,
}

const WORDS: [(What, &str); 7] = [
    (What::Emitted, "emitted"),
    (What::Started, "started"),
    (What::Succeeded, "succeeded"),
    (What::Failed, "failed"),
    (What::Dead, "dead"),
    (What::Dropped, "dropped"),
    (What::Fault, "fault"),
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
        write!(f, "{word} {by} {aggregate} {id}")
    }
}

impl FromStr for Record {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let bad = || format!("not a record: {line:?}");
        let words: Vec<_> = line.split(' ').collect();
        let [what, by, aggregate, id] = words[..] else {
            return Err(bad());
        };
        let what = WORDS.iter().find(|(_, word)| *word == what);
        let (what, _) = what.ok_or_else(bad)?;
        let id = id.parse().map_err(|_| bad())?;
        Ok(Self::new(*what, by, aggregate, id))
    }
}
