use super::{LaneId, breaker::Breaker};
use crate::store::{Position, Row, Shard};
use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    ops::Bound::{Excluded, Unbounded},
};
use tokio::time::Instant;
use uuid::Uuid;

/// What there is to do for one route.
#[derive(Debug, Default)]
pub(crate) struct Topic {
    /// Lanes that may start, in the order in which they got ready.
    pub(crate) ready: VecDeque<(Shard, LaneId)>,
    /// Deliveries under way.
    pub(crate) in_work: usize,
    pub(crate) breaker: Breaker,
    /// Lanes that were set aside, by their heads.
    aside: BTreeSet<Aside>,
    /// The last of them that came back while the topic was down.
    looked_at: Option<Aside>,
    /// Some of them came back in this round of probes.
    looked: bool,
    /// More is known of the topic than fits into its share: what does not fit is set aside.
    pub(crate) overflows: bool,
    /// Since when it has had more than its share in memory.
    pub(crate) over_since: Option<Instant>,
    /// Since then it was brought down as far as it goes: reading waits for it no more.
    pub(crate) trimmed: bool,
    /// Outcomes that the database refuses.
    pub(crate) stuck: usize,
    /// Events that were handled since the start.
    pub(crate) successes: u64,
    /// The events that gave an attempt back for an outage and have had no other outcome since,
    /// with the number of successes before.
    pub(crate) outages: HashMap<Uuid, u64>,
}

type Aside = (Position, Shard, LaneId);

/// How many lanes of a topic that is down stand ready to probe it; the others are set aside.
const PROBES: usize = if cfg!(test) { 1 } else { 64 };

/// With those whose events were never tried: they tell best.
pub(crate) const MOST_PROBES: usize = PROBES * 2;

impl Topic {
    /// Whether enough lanes stand ready to probe it while it is down, for one with this head.
    pub(crate) fn has_probes(&self, head: &Row) -> bool {
        let most = match self.is_fresh(head) {
            true => MOST_PROBES,
            false => PROBES,
        };
        self.ready.len() >= most
    }

    /// Whether it has never been tried: what fails for a reason of its own has.
    pub(crate) fn is_fresh(&self, event: &Row) -> bool {
        event.attempts == 0 && !self.outages.contains_key(&event.id)
    }

    /// A delivery has started.
    pub(crate) fn started(&mut self) {
        self.in_work += 1;
        self.looked &= !self.breaker.started();
    }

    /// Whether a worker may find something to start.
    pub(crate) fn is_startable(&self, now: Instant) -> bool {
        !self.ready.is_empty() && self.breaker.allows(now)
    }

    /// Whether others have succeeded since this event gave an attempt back: then its failure is
    /// its own, or it would stop the topic for ever.
    pub(crate) fn is_its_own(&self, event: Uuid) -> bool {
        let before = self.outages.get(&event);
        before.is_some_and(|before| *before < self.successes)
    }

    pub(crate) fn set_aside(&mut self, shard: Shard, lane: LaneId, head: Position) {
        self.overflows = true;
        self.aside.insert((head, shard, lane));
    }

    /// How many of the lanes that were set aside may come back, where `share` events may wait for
    /// the topic and `waiting` do.
    pub(crate) fn recall(&self, waiting: usize, share: usize) -> usize {
        let wanted = if self.breaker.is_open() {
            // A few for each round: there may be some among them that were never tried.
            let probed = !self.ready.is_empty() || self.in_work > 0;
            let enough = self.looked || self.ready.len() >= MOST_PROBES;
            if probed && enough { 0 } else { PROBES }
        } else if waiting <= share / 2 {
            share - waiting
        } else {
            0
        };
        wanted.min(self.aside.len())
    }

    /// The lane that was set aside with the lowest head; of a topic that is down one after the other,
    /// as they may be set aside again.
    pub(crate) fn pop_aside(&mut self) -> Option<Aside> {
        if !self.breaker.is_open() {
            self.looked_at = None;
            return self.aside.pop_first();
        }
        let after = self.looked_at.map_or(Unbounded, Excluded);
        let mut beyond = self.aside.range((after, Unbounded));
        let next = beyond.next().or_else(|| self.aside.first()).copied()?;
        self.aside.remove(&next);
        (self.looked_at, self.looked) = (Some(next), true);
        Some(next)
    }

    /// Whether nothing of it is set aside.
    pub(crate) fn is_whole(&self) -> bool {
        self.aside.is_empty()
    }

    /// Takes the lanes of these shards out of every queue.
    pub(crate) fn forget(&mut self, shards: &[Shard]) {
        self.ready.retain(|(shard, _)| !shards.contains(shard));
        self.aside.retain(|(_, shard, _)| !shards.contains(shard));
        self.overflows &= !self.is_whole();
    }
}
