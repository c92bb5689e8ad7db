use crate::text::storable;
use std::fmt;

/// What an operator does with a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Act {
    /// It is delivered again, starting over: an ordered event at its old place, an unordered one
    /// at a new one.
    Retry,
    /// It stays a dead letter and no longer holds back its aggregate.
    Skip,
    /// It is deleted; so is an event that is still to be delivered.
    Discard,
}

impl Act {
    /// The word that is recorded.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Skip => "skip",
            Self::Discard => "discard",
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a verb did what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it may have been too late"]
pub enum Answer {
    /// It is done.
    Done,
    /// There was nothing to do it with any more: somebody has done it before, or the event is in
    /// work or has been delivered.
    TooLate,
}

impl Answer {
    pub(super) fn of(done: bool) -> Self {
        if done { Self::Done } else { Self::TooLate }
    }
}

/// Who does something, and why: both are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct By {
    /// Who, at most 200 bytes.
    pub who: String,
    /// Why, at most 2,000 bytes.
    pub why: String,
}

impl By {
    /// What is longer is cut.
    #[must_use]
    pub fn new(who: &str, why: &str) -> Self {
        Self {
            who: storable(who, 200),
            why: storable(why, 2_000),
        }
    }
}
