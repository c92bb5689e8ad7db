use super::{
    LaneId, Schedule,
    lane::Waiting,
    shard::ShardState,
    topic::{MOST_PROBES, Topic},
};
use crate::{
    dispatcher::router::RouteId,
    store::{Position, Shard},
};
use std::time::Duration;
use tokio::time::Instant;

/// A topic that does not use up what it has in memory may not fill the memory: the others would
/// wait for it, however much of it there is. Beyond its share its lanes are set aside, and reading
/// goes on. They are read again, head by head, when the topic has come to half of its share; so
/// are those of a topic that is down when it is up again.
///
/// What only comes faster than a second can handle is no reason: it would be read twice.
const PATIENCE: Duration = Duration::from_secs(1);

impl Schedule {
    /// Sets aside what topics have beyond their shares, where they do not use it up.
    pub(crate) fn share_out(&mut self, now: Instant) {
        let alone = self.topics.len() == 1;
        for route in 0..self.topics.len() {
            // Where nothing starts for another reason it is not the topic that is slow.
            if alone || self.is_congested() || !self.window.is_over(route) {
                let topic = &mut self.topics[route];
                (topic.over_since, topic.trimmed) = (None, false);
                continue;
            }
            let since = *self.topics[route].over_since.get_or_insert(now);
            if now >= since + PATIENCE || self.topics[route].overflows {
                self.topics[route].trimmed = true;
                self.trim(route, now);
            }
        }
    }

    /// Whether reading waits to see if a topic uses up what it has.
    pub(super) fn waits_for_a_topic(&self) -> bool {
        let waits = |topic: &Topic| topic.over_since.is_some() && !topic.trimmed;
        let topics = self.topics.iter().enumerate();
        topics
            .filter(|(_, topic)| waits(topic))
            .any(|(route, _)| self.window.is_over(route))
    }

    /// Whether a lane that may run has to wait outside of the memory.
    pub(super) fn is_crowded(&self, route: RouteId, (shard, id): (Shard, LaneId)) -> bool {
        let topic = &self.topics[route];
        if topic.breaker.is_open() {
            let head = self.head(shard, id);
            if head.is_some_and(|head| topic.has_probes(&head.row)) {
                return true;
            }
        }
        topic.overflows && self.window.is_over(route)
    }

    /// The first event of a lane.
    pub(super) fn head(&self, shard: Shard, id: LaneId) -> Option<&Waiting> {
        self.shards.get(&shard)?.lanes.get(&id)?.queue.front()
    }

    pub(super) fn set_aside(&mut self, route: RouteId, shard: Shard, id: LaneId, head: Position) {
        if let Some(state) = self.shards.get_mut(&shard) {
            state.park(&mut self.window, id, head, None).aside = true;
            self.topics[route].set_aside(shard, id, head);
        }
    }

    /// Brings a topic down to its share, the last that came first.
    fn trim(&mut self, route: RouteId, now: Instant) {
        self.topics[route].overflows = true;
        while self.window.is_over(route)
            && let Some(last) = self.topics[route].ready.pop_back()
        {
            self.put_back(last, now);
        }
        if self.window.is_over(route) {
            self.shorten(route);
        }
        self.topics[route].overflows = !self.topics[route].is_whole();
    }

    /// What is left are lanes whose events are in work: each keeps an equal part of what waits.
    fn shorten(&mut self, route: RouteId) {
        let of_topic = |state: &ShardState| -> Vec<LaneId> {
            let lanes = state.lanes.iter();
            let of_topic = lanes.filter(|(_, lane)| lane.topic == Some(route));
            of_topic.map(|(id, _)| *id).collect()
        };
        let count: usize = self
            .shards
            .values()
            .map(|state| of_topic(state).len())
            .sum();
        let keep = self.window.share() / count.max(1);
        for state in self.shards.values_mut() {
            for id in of_topic(state) {
                state.shorten(&mut self.window, id, keep);
            }
        }
    }

    /// A topic is down: all but some of its ready lanes leave the memory.
    pub(super) fn keep_probes(&mut self, route: RouteId, now: Instant) {
        while self.topics[route].ready.len() > MOST_PROBES
            && let Some(last) = self.topics[route].ready.pop_back()
        {
            self.put_back(last, now);
        }
    }

    /// A lane has lost its place in the queue.
    fn put_back(&mut self, (shard, id): (Shard, LaneId), now: Instant) {
        let state = self.shards.get_mut(&shard);
        if let Some(lane) = state.and_then(|state| state.lanes.get_mut(&id)) {
            lane.ready = false;
            self.advance(shard, id, now);
        }
    }

    /// Whether lanes that were set aside may come back.
    pub(super) fn wants_recall(&self) -> bool {
        (0..self.topics.len()).any(|route| self.to_recall(route) > 0)
    }

    fn to_recall(&self, route: RouteId) -> usize {
        self.topics[route].recall(self.window.of(route), self.window.share())
    }

    /// The lanes that come back now.
    pub(super) fn recall(&mut self) -> Vec<(Position, Shard, LaneId)> {
        let mut recalled = Vec::new();
        for route in 0..self.topics.len() {
            let wanted = self.to_recall(route);
            let topic = &mut self.topics[route];
            let popped = std::iter::from_fn(|| topic.pop_aside()).take(wanted);
            let still_aside = popped.filter(|(head, shard, lane)| {
                let state = self.shards.get(shard);
                state.is_some_and(|state| state.is_aside(*lane, *head))
            });
            recalled.extend(still_aside);
            topic.overflows &= !topic.is_whole();
        }
        recalled
    }
}
