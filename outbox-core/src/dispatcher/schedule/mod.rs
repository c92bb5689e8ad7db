//! Which event may be handled next. No IO and no clock: whoever calls says what time it is.
//!
//! Events come in by [`read`], leave for the workers by [`start`], and come back with an outcome
//! by [`finish`].

mod aside;
mod breaker;
mod finish;
mod floor;
mod lane;
mod read;
mod shard;
mod start;
mod suspect;
mod topic;
mod window;
mod write;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod transactions;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub(crate) use breaker::{OutageChange, Sign};
pub(crate) use finish::{Ended, Pending};
pub(crate) use lane::LaneId;
pub(crate) use read::{Late, Obstacle, Strange};
pub(crate) use start::{Item, Job, Ticket};

use super::{
    config::Config,
    router::{RouteId, Router},
    stats::{Counters, set},
};
use crate::store::{Blocked, Owned, Shard};
use lane::LaneHasher;
use shard::ShardState;
use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    sync::Arc,
};
use tokio::time::Instant;
use topic::Topic;
use window::Window;

/// The events in memory, by shard and lane.
pub(crate) struct Schedule {
    router: Arc<Router>,
    config: Arc<Config>,
    counters: Arc<Counters>,
    hasher: LaneHasher,
    shards: BTreeMap<Shard, ShardState>,
    /// The topics that an operator has paused.
    paused: HashSet<String>,
    /// By route.
    topics: Vec<Topic>,
    /// The route whose turn it is.
    turn: RouteId,
    /// Lanes whose head has crashed its process before: it runs alone.
    solo: VecDeque<(Shard, LaneId)>,
    solo_running: bool,
    /// Lanes whose head is to be marked in the store before it may start.
    marking: Vec<(Shard, LaneId)>,
    /// Deliveries under way.
    in_work: usize,
    /// Those of them that complete their events by themselves.
    transactions: usize,
    /// Whether there are any such.
    has_transactions: bool,
    /// Bytes of long payloads under way.
    long_bytes: usize,
    /// Events that wait in memory.
    window: Window,
    /// Outcomes that have not committed, without those that the database refuses.
    unsettled: usize,
    /// Outcomes that wait for being written, without those of shards that are being written to.
    writable: usize,
    /// How many batches are being written.
    writing: usize,
    /// The shard whose outcomes are next to be written.
    settle_turn: Shard,
    /// Fetches sent so far.
    fetches: u64,
    /// The last fetch left events unread in some shard.
    more: bool,
    /// An event was given up without a delivery: its outcome waits for the settler.
    given_up: bool,
    /// Nothing more is started.
    stopping: bool,
}

impl Schedule {
    pub(crate) fn new(router: Arc<Router>, config: Arc<Config>, counters: Arc<Counters>) -> Self {
        let topics: Vec<_> = router.routes().iter().map(|_| Topic::default()).collect();
        let window = Window::new(config.window, topics.len());
        // What was known of outages went with the session before.
        set(&counters.down, 0);
        let has_transactions = router.routes().iter().any(|route| route.room().is_some());
        Self {
            router,
            config,
            counters,
            hasher: LaneHasher::default(),
            shards: BTreeMap::new(),
            paused: HashSet::new(),
            topics,
            turn: 0,
            solo: VecDeque::new(),
            solo_running: false,
            marking: Vec::new(),
            in_work: 0,
            transactions: 0,
            has_transactions,
            long_bytes: 0,
            window,
            unsettled: 0,
            writable: 0,
            writing: 0,
            settle_turn: 0,
            fetches: 0,
            more: false,
            given_up: false,
            stopping: false,
        }
    }

    pub(crate) fn own(&mut self, owned: Owned) {
        self.shards.insert(owned.shard, ShardState::new(owned));
        set(&self.counters.shards, self.shards.len());
    }

    pub(crate) fn owned(&self) -> Vec<Owned> {
        self.shards.values().map(|shard| shard.owned).collect()
    }

    pub(crate) fn owns(&self, shard: Shard) -> bool {
        self.shards.contains_key(&shard)
    }

    /// Starts nothing more of these shards, so that they can be handed over.
    pub(crate) fn drain(&mut self, shards: &[Shard]) {
        for shard in shards {
            if let Some(state) = self.shards.get_mut(shard) {
                state.draining = true;
            }
        }
    }

    /// The shards to be handed over of which nothing is in work and everything is written.
    pub(crate) fn drained(&self) -> Vec<Owned> {
        let drained = |state: &&ShardState| state.draining && state.is_quiet();
        let states = self.shards.values().filter(drained);
        states.map(|state| state.owned).collect()
    }

    /// Forgets shards that were given up.
    pub(crate) fn disown(&mut self, owned: &[Owned]) {
        for owned in owned {
            if let Some(mut state) = self.shards.remove(&owned.shard) {
                state.reset(&mut self.window);
                self.writable -= state.writable();
            }
        }
        let shards: Vec<_> = owned.iter().map(|owned| owned.shard).collect();
        self.forget_queues(&shards);
        set(&self.counters.shards, self.shards.len());
        self.publish_gauges();
    }

    /// Takes the lanes of these shards out of every queue.
    fn forget_queues(&mut self, shards: &[Shard]) {
        if shards.is_empty() {
            return;
        }
        let others = |(shard, _): &(Shard, LaneId)| !shards.contains(shard);
        self.marking.retain(others);
        self.solo.retain(others);
        for topic in &mut self.topics {
            topic.forget(shards);
        }
    }

    /// The topics that stand still. What was read before stays as it is: whoever calls has thrown
    /// it away.
    pub(crate) fn pause(&mut self, topics: Vec<String>) {
        self.paused = topics.into_iter().collect();
    }

    /// Dead letters that hold back their aggregates.
    pub(crate) fn block(&mut self, blocked: Vec<Blocked>) {
        for Blocked {
            shard,
            position,
            aggregate,
            key,
        } in blocked
        {
            let Some(key) = key else { continue };
            let lane = self.hasher.aggregate(&aggregate, &key);
            if let Some(state) = self.shards.get_mut(&shard) {
                state.park(&mut self.window, lane, position, None);
            }
        }
    }

    /// Starts nothing more.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
    }

    /// Whether nothing is under way and nothing could be started before `now`.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        let quiet = |topic: &Topic| !topic.is_startable(now) && topic.stuck == 0;
        self.in_work == 0
            && self.unsettled == 0
            && self.solo.is_empty()
            && self.marking.is_empty()
            && self.topics.iter().all(quiet)
            && !self.wants_recall()
            && !self.shards.values().any(ShardState::wants_rewind)
    }

    /// Whether a worker that looks may find something to start.
    pub(crate) fn is_startable(&self, now: Instant) -> bool {
        !self.solo.is_empty() || self.topics.iter().any(|topic| topic.is_startable(now))
    }

    /// When a parked event or a paused topic may be tried again. A topic that may be tried now
    /// waits for a worker and not for a time.
    pub(crate) fn next_due(&self, now: Instant) -> Option<Instant> {
        let timers = self.shards.values().filter_map(ShardState::next_due);
        let waiting = |topic: &&Topic| !topic.ready.is_empty();
        let probes = self
            .topics
            .iter()
            .filter(waiting)
            .filter_map(|topic| topic.breaker.retry_at())
            .filter(|at| *at > now);
        timers.chain(probes).min()
    }

    /// When reading may go back, if any lane wants it.
    pub(crate) fn next_rewind(&self, now: Instant) -> Option<Instant> {
        let shards = self.shards.values().filter(|_| !self.reads_on());
        shards.filter_map(|shard| shard.rewind_at(now)).min()
    }

    /// Whether the reader should have another look now.
    pub(crate) fn wants_reading(&self) -> bool {
        let mut shards = self.shards.values();
        let empty = self.window.waiting() == 0 && shards.any(ShardState::wants_rewind);
        let wanted = empty || self.wants_recall() || !self.marking.is_empty();
        self.stopping || self.reads_on() || wanted
    }

    /// Whether the last fetch left events unread.
    pub(crate) fn has_more(&self) -> bool {
        self.more
    }

    /// Whether an event was given up without a delivery since the last call.
    pub(crate) fn take_given_up(&mut self) -> bool {
        std::mem::take(&mut self.given_up)
    }

    /// Deliveries under way.
    pub(crate) fn in_work(&self) -> usize {
        self.in_work
    }

    fn publish_gauges(&self) {
        set(&self.counters.waiting, self.window.waiting());
        set(&self.counters.in_work, self.in_work);
    }
}
