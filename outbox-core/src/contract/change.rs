use std::fmt;

/// What is not as the lock says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The topic, by the name that it has now.
    pub topic: String,
    /// The schema version that it is about.
    pub version: u32,
    /// Where in the payload: `lines[].quantity`. Empty where it is the payload as a whole.
    pub path: String,
    /// What has changed.
    pub kind: ChangeKind,
    /// Who can no longer read what.
    pub effect: Effect,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The topic is not in the lock.
    TopicAdded,
    /// The topic is in the lock and no type declares it.
    TopicRemoved,
    /// The topic is in the lock under a name that it had before.
    TopicRenamed {
        /// That name.
        was: String,
    },
    /// The topic has a version that is not in the lock.
    VersionAdded,
    /// The version is in the lock and no longer read.
    VersionDropped,
    /// The lock has a version that is newer than the topic's.
    VersionMissing,
    /// A field is written that was not.
    FieldAdded,
    /// A field is no longer written.
    FieldRemoved,
    /// A field that was always there may be missing.
    FieldOptional,
    /// A field that could be missing is always there.
    FieldRequired,
    /// A value may be `null` that could not.
    Nullable,
    /// A value that could be `null` cannot any more.
    NeverNull,
    /// One more text is among those that there can be.
    ValueAdded(String),
    /// One text is no longer among those that there can be.
    ValueRemoved(String),
    /// One more variant of an enum.
    VariantAdded(String),
    /// One variant of an enum less.
    VariantRemoved(String),
    /// All that there could be is still possible, and more.
    Widened {
        /// What it could be.
        was: String,
        /// What it can be.
        is: String,
    },
    /// Less is possible.
    Narrowed {
        /// What it could be.
        was: String,
        /// What it can be.
        is: String,
    },
    /// Something else than before.
    Retyped {
        /// What it was.
        was: String,
        /// What it is.
        is: String,
    },
    /// Fields that have no name here are refused, or no longer.
    Strictness {
        /// Whether they are refused now.
        refused: bool,
    },
}

/// Who can no longer read what, if a change keeps its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// All consumers read the new payloads, and this build reads the old ones.
    Compatible,
    /// A consumer, or an older build, may not understand what is written now.
    BreaksConsumers,
    /// This build cannot read what is stored, waiting for a retry or to be replayed.
    BreaksStored,
    /// Neither can read the other.
    BreaksBoth,
}

impl Effect {
    pub(super) fn new(breaks_consumers: bool, breaks_stored: bool) -> Self {
        match (breaks_consumers, breaks_stored) {
            (false, false) => Self::Compatible,
            (true, false) => Self::BreaksConsumers,
            (false, true) => Self::BreaksStored,
            (true, true) => Self::BreaksBoth,
        }
    }

    /// Whether the change needs a new version.
    #[must_use]
    pub fn breaks(self) -> bool {
        self != Self::Compatible
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} version {}, {}: ",
            self.topic, self.version, self.effect
        )?;
        match self.path.as_str() {
            "" => {}
            path => write!(f, "`{path}` ")?,
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compatible => "compatible",
            Self::BreaksConsumers => "breaks consumers",
            Self::BreaksStored => "breaks stored events",
            Self::BreaksBoth => "breaks consumers and stored events",
        })
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TopicAdded => f.write_str("is a new topic"),
            Self::TopicRemoved => f.write_str("is declared by no type any more"),
            Self::TopicRenamed { was } => write!(f, "was called {was}"),
            Self::VersionAdded => f.write_str("is a new version"),
            Self::VersionDropped => f.write_str("is read no longer"),
            Self::VersionMissing => f.write_str("is newer than the topic's own version"),
            Self::FieldAdded => f.write_str("is a new field"),
            Self::FieldRemoved => f.write_str("is written no longer"),
            Self::FieldOptional => f.write_str("may be missing now"),
            Self::FieldRequired => f.write_str("is always there now"),
            Self::Nullable => f.write_str("may be null now"),
            Self::NeverNull => f.write_str("is never null now"),
            Self::ValueAdded(value) => write!(f, "may be {value:?} now"),
            Self::ValueRemoved(value) => write!(f, "is never {value:?} now"),
            Self::VariantAdded(variant) => write!(f, "has the new variant {variant}"),
            Self::VariantRemoved(variant) => write!(f, "has no variant {variant} any more"),
            Self::Widened { was, is } => write!(f, "was {was}, can be {is} now"),
            Self::Narrowed { was, is } => write!(f, "was {was}, is no more than {is} now"),
            Self::Retyped { was, is } => write!(f, "was {was}, is {is} now"),
            Self::Strictness { refused: true } => f.write_str("refuses unknown fields now"),
            Self::Strictness { refused: false } => f.write_str("no longer refuses unknown fields"),
        }
    }
}
