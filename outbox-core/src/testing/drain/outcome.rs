use crate::{dispatcher::Summary, envelope::Envelope, store::Verdict, testing::Wanted};
use std::{fmt, time::Duration};

/// What a dispatcher did: see [`Dispatcher::drain`](crate::Dispatcher::drain).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Drained {
    /// The numbers. What they say about the end is that of the last run.
    pub summary: Summary,
    /// The outcomes, in the order in which they were written. A transactional handler's success is
    /// written by its own transaction.
    pub outcomes: Vec<EventOutcome>,
    /// How much of the outbox's time was let pass.
    pub passed: Duration,
}

/// The outcome of one delivery. A delivery that was given back in an outage has none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EventOutcome {
    /// The event as it was delivered.
    pub event: Envelope,
    /// How many deliveries have come to an end, with this one.
    pub attempts: u32,
    /// What became of it.
    pub verdict: Verdict,
    /// How much of the outbox's time had been let pass when it was delivered.
    pub at: Duration,
}

impl Drained {
    /// The outcomes of a topic, or of one event.
    #[must_use]
    pub fn of(&self, wanted: impl Into<Wanted>) -> Vec<&EventOutcome> {
        let wanted = wanted.into();
        let outcomes = self.outcomes.iter();
        outcomes
            .filter(|outcome| wanted.matches(&outcome.event.topic, outcome.event.id))
            .collect()
    }

    pub(super) fn add(&mut self, summary: Summary, outcomes: Vec<EventOutcome>) {
        self.summary = Summary {
            delivered: self.summary.delivered + summary.delivered,
            retried: self.summary.retried + summary.retried,
            dead: self.summary.dead + summary.dead,
            unhandled: self.summary.unhandled + summary.unhandled,
            ..summary
        };
        let at = self.passed;
        let outcomes = outcomes.into_iter();
        self.outcomes
            .extend(outcomes.map(|outcome| EventOutcome { at, ..outcome }));
    }
}

impl fmt::Display for EventOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = &self.event;
        write!(f, "{} of {}", event.topic, event.aggregate)?;
        if let Some(key) = &event.key {
            write!(f, " {key}")?;
        }
        write!(f, ", attempt {} after {:?}: ", self.attempts, self.at)?;
        match &self.verdict {
            Verdict::Done => f.write_str("delivered"),
            Verdict::Retry { after, error, .. } => write!(f, "again after {after:?}: {error}"),
            Verdict::Dead { reason, error, .. } => write!(f, "dead, {reason}: {error}"),
        }
    }
}
