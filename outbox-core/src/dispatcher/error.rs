use std::{error, fmt};

/// A dispatcher that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// Two handlers for one topic.
    DuplicateHandler {
        /// The topic.
        topic: String,
    },
    /// Two event types declare one topic.
    DuplicateTopic {
        /// The topic.
        topic: &'static str,
        /// The types that declare it.
        events: [&'static str; 2],
    },
    /// A handler or a pattern for topics that no type of the catalogue declares.
    UnknownTopic {
        /// The topic or pattern.
        topic: String,
    },
    /// A topic that nobody handles, where [`Unhandled::Refuse`](crate::Unhandled::Refuse) is set.
    Unhandled {
        /// The topic.
        topic: &'static str,
        /// The type that declares it.
        event: &'static str,
    },
    /// Options for a topic that has no handler of its own.
    NoHandler {
        /// The topic.
        topic: &'static str,
    },
    /// A pattern is neither a topic nor a prefix that ends in `*`.
    Pattern {
        /// The pattern.
        pattern: String,
    },
    /// A setting that cannot work.
    Setting {
        /// Which setting, and what it needs.
        problem: &'static str,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateHandler { topic } => {
                write!(f, "topic {topic} has two handlers: an event has one")
            }
            Self::DuplicateTopic {
                topic,
                events: [a, b],
            } => {
                write!(
                    f,
                    "topic {topic} is declared by both {a} and {b}: rename one"
                )
            }
            Self::UnknownTopic { topic } => {
                write!(
                    f,
                    "no event type of the catalogue declares {topic}: add the type, or mend the name"
                )
            }
            Self::Unhandled { topic, event } => {
                write!(
                    f,
                    "topic {topic} of {event} has no handler: add one, or take another `unhandled`"
                )
            }
            Self::NoHandler { topic } => {
                write!(
                    f,
                    "topic {topic} has options but no handler: call `handler` on the options, \
                     also where there is an `on_event`"
                )
            }
            Self::Pattern { pattern } => {
                write!(
                    f,
                    "{pattern:?} is no pattern: write a topic, or a prefix and `*` at the end"
                )
            }
            Self::Setting { problem } => f.write_str(problem),
        }
    }
}

impl error::Error for BuildError {}
