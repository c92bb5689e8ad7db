use super::{LaneId, Schedule};
use crate::{
    dispatcher::router::RouteId,
    store::{Epoch, Position, Row, Shard},
};
use tokio::time::Instant;
use uuid::Uuid;

/// A delivery to be made.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) route: RouteId,
    pub(crate) items: Vec<Item>,
}

/// One event of a delivery.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) ticket: Ticket,
    pub(crate) row: Box<Row>,
}

/// What is remembered of an event while it is in work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) shard: Shard,
    pub(crate) epoch: Epoch,
    pub(crate) position: Position,
    pub(super) lane: LaneId,
    pub(crate) id: Uuid,
    pub(crate) attempts: u32,
    pub(super) ordered: bool,
    /// Bytes that count against the budget only while the event is in work.
    pub(super) long: usize,
    pub(super) solo: bool,
    /// It started while its topic was paused.
    pub(super) probe: bool,
}

/// From this crash on an event runs alone.
const SOLO_CRASHES: u32 = 2;

/// So many outcomes may wait for being written before nothing more is started, in batches.
const UNSETTLED_BATCHES: usize = 8;

/// One slot in so many is kept for topics that have few or none.
const KEPT_SLOTS: usize = 16;

/// A lane that left events out asks for them when it has no more than this many.
const REFILL_EVENTS: usize = 16;

enum Start {
    Item(Item),
    /// The lane could not start after all; its place in the queue is gone.
    Nothing,
    /// Not now: there is no memory for the payload, or the event is to be marked first.
    Later,
}

enum Solo {
    Job(Job),
    Marking,
    Gone,
}

impl Schedule {
    /// The next delivery, fair among topics; `None` when nothing may be started now.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Job> {
        let full = self.in_work >= self.config.concurrency || self.is_congested();
        if self.stopping || self.solo_running || full {
            return None;
        }
        if let Some(job) = self.next_together(now) {
            return Some(job);
        }
        // Whatever runs is let finish before an event runs alone.
        while let Some((shard, lane)) = self.solo.front().copied().filter(|_| self.in_work == 0) {
            match self.next_solo(shard, lane, now) {
                Solo::Job(job) => return Some(job),
                Solo::Marking => return None,
                Solo::Gone => {}
            }
        }
        None
    }

    /// Whether too much waits for being written.
    pub(super) fn is_congested(&self) -> bool {
        self.unsettled >= self.config.settle_batch.saturating_mul(UNSETTLED_BATCHES)
    }

    /// A free slot goes to the topic that has the fewest deliveries under way, those that have as
    /// many take turns.
    fn next_together(&mut self, now: Instant) -> Option<Job> {
        let topics = self.topics.len();
        let mut tried = None;
        while self.solo.is_empty() {
            let order = |route: RouteId| {
                let turn = (route + topics - self.turn) % topics;
                (self.topics[route].in_work, turn)
            };
            let candidates = (0..topics).filter(|route| self.may_start(*route, now));
            let untried = candidates.map(order).filter(|order| tried < Some(*order));
            let (in_work, turn) = untried.min()?;
            tried = Some((in_work, turn));
            let route = (self.turn + turn) % topics;
            if let Some(job) = self.next_of(route, now) {
                self.turn = (route + 1) % topics;
                return Some(job);
            }
        }
        None
    }

    fn may_start(&self, route: RouteId, now: Instant) -> bool {
        let topic = &self.topics[route];
        topic.is_startable(now)
            && topic.in_work < self.router.route(route).config.concurrency
            && topic.stuck < self.config.settle_batch
            && self.has_slot(topic.in_work)
            && self.has_transaction(route)
    }

    /// Whether the store has room for one more transaction of a handler, where the route needs one.
    fn has_transaction(&self, route: RouteId) -> bool {
        let room = self.router.route(route).room();
        room.is_none_or(|room| self.transactions < room.at_once)
    }

    /// Whether a topic with so many deliveries under way may have another slot. The last few are
    /// for those that have less than is free, or a topic that hangs would take them all.
    fn has_slot(&self, in_work: usize) -> bool {
        let free = self.config.concurrency.saturating_sub(self.in_work);
        let kept = if self.topics.len() == 1 {
            0
        } else {
            self.config.concurrency / KEPT_SLOTS
        };
        free > kept || free > in_work
    }

    fn next_solo(&mut self, shard: Shard, lane: LaneId, now: Instant) -> Solo {
        let route = self.head(shard, lane).and_then(|head| head.route);
        let started = route.map(|route| (route, self.start(shard, lane, route, now, true)));
        if let Some((_, Start::Later)) = started {
            return Solo::Marking;
        }
        self.solo.pop_front();
        match started {
            Some((route, Start::Item(item))) => {
                self.solo_running = true;
                self.started(route);
                Solo::Job(Job {
                    route,
                    items: vec![item],
                })
            }
            _ => Solo::Gone,
        }
    }

    fn next_of(&mut self, route: RouteId, now: Instant) -> Option<Job> {
        let mut job = Job {
            route,
            items: Vec::new(),
        };
        // A topic that was down is probed with single events.
        let most = if self.topics[route].breaker.is_open() {
            let found = self.put_fresh_first(route);
            let breaker = &mut self.topics[route].breaker;
            if !found && breaker.wants_fresh() {
                breaker.end_round();
                return None;
            }
            1
        } else {
            self.router.route(route).batch()
        };
        self.fill_to(most, &mut job, now);
        if job.items.is_empty() {
            return None;
        }
        self.started(route);
        Some(job)
    }

    /// A lane whose head was never tried goes before those that have failed: where these fail for
    /// reasons of their own, it shows that the topic works. Returns whether there is one.
    fn put_fresh_first(&mut self, route: RouteId) -> bool {
        let topic = &self.topics[route];
        let is_fresh = |(shard, id): &(Shard, LaneId)| {
            let head = self.head(*shard, *id);
            head.is_some_and(|head| topic.is_fresh(&head.row))
        };
        let first = topic.ready.iter().position(is_fresh);
        let ready = &mut self.topics[route].ready;
        let Some(lane) = first.and_then(|first| ready.remove(first)) else {
            return false;
        };
        ready.push_front(lane);
        true
    }

    fn fill_to(&mut self, most: usize, job: &mut Job, now: Instant) {
        let route = job.route;
        while job.items.len() < most {
            let Some((shard, lane)) = self.topics[route].ready.pop_front() else {
                break;
            };
            match self.start(shard, lane, route, now, false) {
                Start::Item(item) => job.items.push(item),
                // Whatever comes after an event that runs alone waits for it.
                Start::Nothing if !self.solo.is_empty() => break,
                Start::Nothing => {}
                Start::Later => {
                    self.topics[route].ready.push_front((shard, lane));
                    break;
                }
            }
        }
    }

    /// Whether a delivery that has just started could take more events.
    pub(crate) fn is_wanting(&self, job: &Job) -> bool {
        let full = job.items.len() >= self.router.route(job.route).batch();
        let alone = job
            .items
            .iter()
            .any(|item| item.ticket.solo || item.ticket.probe);
        !full && !alone && !self.stopping
    }

    /// Adds what has got ready meanwhile.
    pub(crate) fn fill(&mut self, job: &mut Job, now: Instant) {
        if self.solo.is_empty() && !self.topics[job.route].breaker.is_open() && !self.stopping {
            self.fill_to(self.router.route(job.route).batch(), job, now);
            self.publish_gauges();
        }
    }

    fn started(&mut self, route: RouteId) {
        self.in_work += 1;
        self.topics[route].started();
        self.transactions += usize::from(self.router.route(route).room().is_some());
        self.publish_gauges();
    }

    fn start(
        &mut self,
        shard: Shard,
        id: LaneId,
        route: RouteId,
        now: Instant,
        alone: bool,
    ) -> Start {
        let Some(state) = self.shards.get_mut(&shard) else {
            return Start::Nothing;
        };
        let completes = self.router.route(route).room().is_some();
        let unwritten = completes && state.has_unwritten(id);
        let Some(lane) = state.lanes.get_mut(&id) else {
            return Start::Nothing;
        };
        if lane.busy.is_some() || lane.held {
            // It takes its place in the queue again when it goes on.
            lane.ready = false;
        }
        if !lane.ready || state.draining {
            return Start::Nothing;
        }
        let Some(head) = lane.queue.front() else {
            return Start::Nothing;
        };
        if head.route != Some(route) {
            // An event that committed late has taken the head's place.
            lane.ready = false;
            self.advance(shard, id, now);
            return Start::Nothing;
        }
        if unwritten {
            // Its completion must not commit before what came before it; when that has, the lane
            // takes its place in the queue again.
            lane.ready = false;
            return Start::Nothing;
        }
        let row = &head.row;
        let long = if row.body.is_none() { row.size } else { 0 };
        if long > 0 && self.long_bytes > 0 && self.long_bytes + long > self.config.bytes / 2 {
            return Start::Later;
        }
        let position = row.position;
        let suspect = state.is_suspect(position);
        if let Some(crashes) = self
            .crashes_at_start(shard, id)
            .filter(|crashes| *crashes > 0)
        {
            if crashes >= self.config.crash_limit {
                self.give_up_crashed(shard, id);
                return Start::Nothing;
            }
            if crashes >= SOLO_CRASHES && !alone {
                self.solo.push_back((shard, id));
                return Start::Nothing;
            }
            if suspect {
                if self.marks_full() {
                    return Start::Later;
                }
                self.mark(shard, id);
                return if alone { Start::Later } else { Start::Nothing };
            }
        }
        let Some(state) = self.shards.get_mut(&shard) else {
            return Start::Nothing;
        };
        let Some(lane) = state.lanes.get_mut(&id) else {
            return Start::Nothing;
        };
        let Some(head) = lane.queue.pop_front() else {
            return Start::Nothing;
        };
        let row = head.row;
        lane.ready = false;
        lane.busy = Some(row.position);
        let refill = lane.skipped.is_some() && lane.queue.len() <= REFILL_EVENTS;
        let topic = lane.topic;
        if refill {
            state.want_rewind(id);
        }
        self.window.remove(topic, 1);
        self.long_bytes += long;
        let ticket = Ticket {
            shard,
            epoch: state.owned.epoch,
            position: row.position,
            lane: id,
            id: row.id,
            attempts: row.attempts,
            ordered: row.ordered,
            long,
            solo: alone,
            probe: self.topics[route].breaker.is_open(),
        };
        Start::Item(Item { ticket, row })
    }
}
