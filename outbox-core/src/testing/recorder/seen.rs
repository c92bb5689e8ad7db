use crate::handler::{Delivery, Wish};
use std::fmt;

/// A delivery that a handler was given.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Seen {
    /// What was given beside the event.
    pub delivery: Delivery,
    /// How it ended.
    pub ending: Ending,
    /// How many events the handler was given at once, this one included.
    pub together: usize,
    /// Its start, and its end if there was one, among all starts and ends.
    pub(super) span: (usize, Option<usize>),
}

/// How a handler ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// It still runs.
    Running,
    /// It succeeded; what a transactional one has done may be rolled back after that.
    Done,
    /// It failed, and wished this.
    Failed(Wish),
    /// It panicked.
    Panicked,
    /// It was dropped: its time was over, the lease lost, or the dispatcher stopped.
    Dropped,
}

impl Seen {
    pub(super) fn new(delivery: Delivery, together: usize, moment: usize) -> Self {
        Self {
            delivery,
            ending: Ending::Running,
            together,
            span: (moment, None),
        }
    }

    pub(super) fn ended(&mut self, ending: Ending, moment: usize) {
        self.ending = ending;
        self.span.1 = Some(moment);
    }

    /// Whether it ran when another began.
    pub(super) fn overlaps(&self, later: &Self) -> bool {
        self.span.1.is_none_or(|end| end > later.span.0)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delivery = &self.delivery;
        write!(f, "{} of {}", delivery.topic(), delivery.aggregate())?;
        if let Some(key) = delivery.key() {
            write!(f, " {key}")?;
        }
        let (position, attempt) = (delivery.position(), delivery.attempt());
        write!(f, ", position {position}, attempt {attempt}: ")?;
        match self.ending {
            Ending::Running => f.write_str("running"),
            Ending::Done => f.write_str("done"),
            Ending::Failed(wish) => write!(f, "failed, wishes {wish:?}"),
            Ending::Panicked => f.write_str("panicked"),
            Ending::Dropped => f.write_str("dropped"),
        }
    }
}

/// Some lines of deliveries.
pub(super) fn list(seen: &[Seen]) -> String {
    let lines = seen.iter().map(|seen| format!("\n  {seen}"));
    lines.collect()
}
