use super::{Seen, seen::list};
use crate::{emit::Emitted, event::Topic, handler::Delivery};
use std::{error, fmt, time::Duration};
use uuid::Uuid;

/// Which deliveries are meant: those of a topic, or of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// Of the topic of this name.
    Topic(String),
    /// Of the event with this id.
    Event(Uuid),
}

impl Wanted {
    pub(super) fn is(&self, delivery: &Delivery) -> bool {
        self.matches(delivery.topic(), delivery.id())
    }

    pub(in crate::testing) fn matches(&self, topic: &str, id: Uuid) -> bool {
        match self {
            Self::Topic(wanted) => wanted == topic,
            Self::Event(wanted) => *wanted == id,
        }
    }
}

impl<T> From<Topic<T>> for Wanted {
    fn from(topic: Topic<T>) -> Self {
        topic.name().into()
    }
}

impl From<&str> for Wanted {
    fn from(topic: &str) -> Self {
        Self::Topic(topic.to_owned())
    }
}

impl From<Uuid> for Wanted {
    fn from(event: Uuid) -> Self {
        Self::Event(event)
    }
}

impl From<Emitted> for Wanted {
    fn from(event: Emitted) -> Self {
        Self::Event(event.id())
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(topic) => write!(f, "topic {topic}"),
            Self::Event(id) => write!(f, "event {id}"),
        }
    }
}

/// What was waited for did not come; the message lists what did.
pub struct NotSeen {
    what: String,
    patience: Duration,
    seen: Vec<Seen>,
}

impl NotSeen {
    pub(super) fn new(what: &str, patience: Duration, seen: Vec<Seen>) -> Self {
        Self {
            what: what.to_owned(),
            patience,
            seen,
        }
    }
}

impl fmt::Display for NotSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            patience,
            seen,
        } = self;
        write!(f, "waited {patience:?} for {what}; ")?;
        if seen.is_empty() {
            return f.write_str("nothing was delivered");
        }
        write!(f, "delivered were:{}", list(seen))
    }
}

/// As a test shows it that unwraps.
impl fmt::Debug for NotSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl error::Error for NotSeen {}
