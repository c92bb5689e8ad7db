use super::Record;
use std::fmt;
use uuid::Uuid;

/// Something that must not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule that was broken.
    pub rule: Rule,
    /// The aggregate.
    pub aggregate: String,
    /// The event.
    pub id: Uuid,
    /// The index of the record that broke it; for what is missing, the number of records.
    pub at: usize,
}

/// What every history keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Every emitted event succeeded or was given up.
    NothingIsLost,
    /// Nothing is delivered that was not emitted: a rolled back event never was.
    NothingIsInvented,
    /// An event starts when all those before it in its aggregate have succeeded or were given up.
    /// A delayed event has its place from when it is first started, among delayed ones from before.
    InOrder,
    /// Whoever repeats an event repeats those after it too.
    SuffixesRepeat,
    /// Two events of an aggregate are never in work together, but for a dispatcher that was killed or
    /// stood still.
    OneAtATime,
    /// An event that succeeded comes again only if its own outcome may not have been written: it
    /// arose while a fault of its dispatcher lasted, or the database still had its row when one
    /// struck.
    DuplicatesAreExplained,
    /// A delivery is told how many have failed before it, but for failures that may not have been
    /// written.
    AttemptsAreCounted,
    /// A dispatcher ends what it has started.
    EndsFollowStarts,
}

impl Violation {
    pub(super) fn new(rule: Rule, record: &Record, at: usize) -> Self {
        Self {
            rule,
            aggregate: record.aggregate.clone(),
            id: record.id,
            at,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            aggregate,
            id,
            at,
        } = self;
        write!(f, "{rule:?} broken at line {}: {aggregate} {id}", at + 1)
    }
}
