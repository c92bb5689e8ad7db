use super::{Ending, Seen, seen::list};
use crate::{
    handler::{Delivery, Wish},
    headers::REPLAY_ID,
    store::Position,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    error, fmt,
    ops::Bound::{Excluded, Unbounded},
};
use uuid::Uuid;

/// What the deliveries of an aggregate keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Two of its events are never in work together.
    OneAtATime,
    /// An event comes when those before it have succeeded, or were given up.
    InOrder,
    /// Whoever repeats an event repeats those after it too.
    SuffixesRepeat,
}

/// A rule was broken; the message lists the deliveries of the aggregate.
pub struct Disorder {
    rule: Rule,
    event: Uuid,
    seen: Vec<Seen>,
}

impl Disorder {
    /// Which rule.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Whose delivery broke it.
    #[must_use]
    pub fn event(&self) -> Uuid {
        self.event
    }
}

pub(super) fn duplicates(seen: &[Seen]) -> Vec<Delivery> {
    let mut done = BTreeSet::new();
    let mut duplicates = Vec::new();
    for seen in seen.iter().filter(|seen| !is_replay(&seen.delivery)) {
        let id = seen.delivery.id();
        if done.contains(&id) {
            duplicates.push(seen.delivery.clone());
        }
        if seen.ending == Ending::Done {
            done.insert(id);
        }
    }
    duplicates
}

pub(super) fn check(seen: &[Seen]) -> Result<(), Disorder> {
    let mut aggregates: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for seen in seen {
        let delivery = &seen.delivery;
        // What is replayed has succeeded before, and has a new place beside what has its order.
        if delivery.is_ordered() && !is_replay(delivery) {
            let name = (delivery.aggregate(), delivery.key());
            aggregates.entry(name).or_default().push(seen);
        }
    }
    for aggregate in aggregates.values() {
        if let Some((rule, event)) = broken(aggregate) {
            let seen = aggregate.iter().map(|seen| (*seen).clone());
            return Err(Disorder {
                rule,
                event,
                seen: seen.collect(),
            });
        }
    }
    Ok(())
}

/// The first rule that the deliveries of an aggregate break, and the event by which.
fn broken(aggregate: &[&Seen]) -> Option<(Rule, Uuid)> {
    let mut last: Option<&Seen> = None;
    let mut known: BTreeMap<Position, &Seen> = BTreeMap::new();
    let mut done = BTreeSet::new();
    // What is to be repeated with an event before it.
    let mut again = BTreeSet::new();
    for seen in aggregate {
        let (position, id) = (seen.delivery.position(), seen.delivery.id());
        if last.is_some_and(|last| last.overlaps(seen)) {
            return Some((Rule::OneAtATime, id));
        }
        last = Some(seen);
        again.remove(&position);
        if again.range(..position).next().is_some() {
            return Some((Rule::SuffixesRepeat, id));
        }
        let behind = (Excluded(position), Unbounded);
        let overtaken = known.range(behind).next().is_some();
        let before = known.insert(position, seen);
        if done.contains(&position) {
            again.extend(done.range(behind).copied());
        } else if overtaken && !before.is_some_and(|before| may_be_back(before, seen)) {
            return Some((Rule::InOrder, id));
        }
        if seen.ending == Ending::Done {
            done.insert(position);
        }
    }
    let missing = again.first().and_then(|position| known.get(position));
    missing.map(|seen| (Rule::SuffixesRepeat, seen.delivery.id()))
}

/// Whether an event that failed has been a dead letter in between: those after it need not have
/// waited. It is one at once, or starts anew with the first attempt.
fn may_be_back(before: &Seen, now: &Seen) -> bool {
    before.ending == Ending::Failed(Wish::Dead)
        || matches!(before.ending, Ending::Failed(_) | Ending::Panicked)
            && now.delivery.attempt() <= before.delivery.attempt()
}

fn is_replay(delivery: &Delivery) -> bool {
    delivery.headers().text(REPLAY_ID).is_some()
}

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, event, seen } = self;
        let rule = match rule {
            Rule::OneAtATime => "came while another one of its aggregate was in work",
            Rule::InOrder => "came after one that stands behind it",
            Rule::SuffixesRepeat => "was not repeated in its order with one before it",
        };
        write!(f, "event {event} {rule}:{}", list(seen))
    }
}

/// As a test shows it that unwraps.
impl fmt::Debug for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl error::Error for Disorder {}
