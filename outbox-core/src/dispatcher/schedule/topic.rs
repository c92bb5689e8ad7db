use super::{LaneId, breaker::Breaker};
use crate::store::{Position, Shard};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
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
    /// Lanes that were set aside, the lowest head first.
    aside: BinaryHeap<Reverse<(Position, Shard, LaneId)>>,
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

/// How many lanes of a topic that is down stand ready to probe it; the others are set aside.
pub(crate) const PROBES: usize = if cfg!(test) { 1 } else { 64 };

impl Topic {
    /// Whether enough lanes stand ready to probe a topic that is down.
    pub(crate) fn has_probes(&self) -> bool {
        self.breaker.is_open() && self.ready.len() >= PROBES
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
        self.aside.push(Reverse((head, shard, lane)));
    }

    /// How many of the lanes that were set aside may come back, where `share` events may wait for
    /// the topic and `waiting` do.
    pub(crate) fn recall(&self, waiting: usize, share: usize) -> usize {
        let wanted = if self.breaker.is_open() {
            let probed = !self.ready.is_empty() || self.in_work > 0;
            if probed { 0 } else { PROBES }
        } else if waiting <= share / 2 {
            share - waiting
        } else {
            0
        };
        wanted.min(self.aside.len())
    }

    /// The lane that was set aside with the lowest head.
    pub(crate) fn pop_aside(&mut self) -> Option<(Position, Shard, LaneId)> {
        let Reverse(lowest) = self.aside.pop()?;
        Some(lowest)
    }

    /// Whether nothing of it is set aside.
    pub(crate) fn is_whole(&self) -> bool {
        self.aside.is_empty()
    }

    /// Takes the lanes of these shards out of every queue.
    pub(crate) fn forget(&mut self, shards: &[Shard]) {
        self.ready.retain(|(shard, _)| !shards.contains(shard));
        self.aside
            .retain(|Reverse((_, shard, _))| !shards.contains(shard));
        self.overflows &= !self.is_whole();
    }
}
