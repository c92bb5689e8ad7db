use super::{LaneId, PROBES, Schedule, lane::Waiting, shard::ShardState};
use crate::{
    dispatcher::{router::RouteId, stats::add},
    store::{Cursor, Fetched, Position, Row, Seen, Shard},
};
use std::collections::HashMap;
use tokio::time::Instant;

/// An event that nobody here can handle; it stays in the outbox.
#[derive(Debug)]
pub(crate) struct Strange {
    pub(crate) obstacle: Obstacle,
    pub(crate) position: Position,
    pub(crate) topic: String,
    pub(crate) fault: Option<String>,
}

/// The first event of a parked lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    shard: Shard,
    lane: LaneId,
    pub(crate) position: Position,
}

/// What stands in an event's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// No handler knows the topic.
    Unknown,
    /// The row is no event.
    Unreadable,
}

/// A lane may always keep this many events in memory.
const LANE_EVENTS: usize = 64;

impl Schedule {
    /// Goes back where lanes want it and it is time, or where there is nothing else to do. Now and
    /// then it goes back to the start, one shard after the other.
    pub(crate) fn rewind(&mut self, now: Instant) {
        let _ = self.shards.values_mut().any(|state| state.floor.sweep(now));
        for (route, topic) in self.topics.iter_mut().enumerate() {
            if topic.wants_recall() {
                topic.aside = false;
                for shard in self.shards.values_mut() {
                    shard.recall(route);
                }
            }
        }
        let idle = self.waiting == 0;
        for shard in self.shards.values_mut() {
            if shard.rewind_at(now).is_some_and(|at| idle || at <= now) {
                shard.apply_rewind(now);
            }
        }
    }

    /// Where to read on, and how many events there is room for. Counts as a fetch sent.
    pub(crate) fn send_fetch(&mut self) -> (Vec<Cursor>, usize) {
        self.fetches += 1;
        let read = self.shards.values().filter(|state| !state.draining);
        let cursors = read.map(ShardState::cursor).collect();
        (cursors, self.config.batch.min(self.room()))
    }

    /// How many more events may wait in memory.
    pub(crate) fn room(&self) -> usize {
        self.config.window.saturating_sub(self.waiting)
    }

    /// Forgets what was read of shards that an operator has changed. A fetch that shows it is
    /// thrown away whole: it may already lack the event that comes first.
    pub(crate) fn reset_changed(&mut self, seen: &[Seen]) -> Vec<Shard> {
        let mut changed = Vec::new();
        for seen in seen {
            let Some(shard) = self.shards.get_mut(&seen.shard) else {
                continue;
            };
            let before = shard.revision.replace(seen.revision);
            if before.is_some_and(|revision| revision != seen.revision) {
                self.waiting -= shard.reset();
                changed.push(seen.shard);
            }
        }
        self.forget_queues(&changed);
        changed
    }

    /// Takes in what a fetch has read. Returns the events that nobody here can handle, the first
    /// time they are seen.
    pub(crate) fn admit(&mut self, fetched: Fetched, now: Instant) -> Vec<Strange> {
        let mut strange = Vec::new();
        // First, so that an event which an operator has brought back is not taken for what a
        // fetch from before its settle would show.
        for seen in &fetched.shards {
            if let Some(state) = self.shards.get_mut(&seen.shard) {
                state.fetched(self.fetches);
            }
        }
        let mut last: HashMap<Shard, Position> = HashMap::new();
        for row in fetched.rows {
            last.insert(row.shard, row.position);
            strange.extend(self.admit_row(row, now));
        }
        for seen in &fetched.shards {
            if let Some(state) = self.shards.get_mut(&seen.shard) {
                let last = last.get(&seen.shard).copied();
                state.floor.read_to(last, fetched.horizon, now);
            }
        }
        self.publish_gauges();
        strange
    }

    fn admit_row(&mut self, row: Row, now: Instant) -> Option<Strange> {
        let room = self.room();
        let state = self.shards.get_mut(&row.shard)?;
        let (shard, position, lane) = (row.shard, row.position, self.hasher.of(&row));
        if state.knows(position) {
            return None;
        }
        if let Some(parked) = state.parked.get_mut(&lane) {
            parked.skip(position);
            return None;
        }
        let route = self.router.find(&row.topic).filter(|_| row.fault.is_none());
        let strange = (route.is_none() && state.floor.is_new(position)).then(|| strange(&row));
        let holds_back = row.ordered && row.key.is_some();
        if route.is_some() || holds_back {
            let entry = state.lanes.entry(lane).or_default();
            let not_before = row.retry_in.map(|wait| now + wait);
            if entry.admit(
                Waiting {
                    row,
                    route,
                    not_before,
                },
                LANE_EVENTS.max(room / 2),
            ) {
                state.learn(position);
                self.waiting += 1;
                self.advance(shard, lane, now);
            }
        }
        if let Some(strange) = &strange {
            let counter = match strange.obstacle {
                Obstacle::Unknown => &self.counters.unknown,
                Obstacle::Unreadable => &self.counters.unreadable,
            };
            add(counter, 1);
        }
        strange
    }

    /// The heads of parked lanes whose time has come, to be read again by position.
    pub(crate) fn due_heads(&mut self, now: Instant) -> Vec<Head> {
        let mut heads = Vec::new();
        for (shard, state) in &mut self.shards {
            let head = |(lane, position)| Head {
                shard: *shard,
                lane,
                position,
            };
            heads.extend(state.due(now).into_iter().map(head));
        }
        heads
    }

    /// Takes in the heads that [`due_heads`](Self::due_heads) named; those that are not among
    /// `rows` have been settled by somebody else.
    pub(crate) fn revive(&mut self, heads: &[Head], rows: Vec<Row>, now: Instant) {
        let mut rows: HashMap<Position, Row> =
            rows.into_iter().map(|row| (row.position, row)).collect();
        for Head {
            shard,
            lane,
            position,
        } in heads
        {
            let Some(state) = self.shards.get_mut(shard) else {
                continue;
            };
            if state
                .parked
                .get(lane)
                .is_none_or(|parked| parked.head != *position)
            {
                continue;
            }
            let entry = state.unpark(*lane);
            if let Some(row) = rows.remove(position) {
                let event = Waiting {
                    route: self.router.find(&row.topic).filter(|_| row.fault.is_none()),
                    not_before: row.retry_in.map(|wait| now + wait),
                    row,
                };
                entry.queue.push_front(event);
                state.learn(*position);
                self.waiting += 1;
            }
            self.advance(*shard, *lane, now);
        }
    }

    /// The due heads could not be read: try again at `at`.
    pub(crate) fn put_off_heads(&mut self, heads: &[Head], at: Instant) {
        for Head {
            shard,
            lane,
            position,
        } in heads
        {
            if let Some(state) = self.shards.get_mut(shard) {
                state.retry_later(*lane, *position, at);
            }
        }
    }

    /// A topic is down: all but some of its ready lanes leave the memory, which would be full of
    /// them otherwise, and other topics would wait for it. They are read again when it is up.
    pub(super) fn set_aside(&mut self, route: RouteId, now: Instant) {
        while self.topics[route].ready.len() > PROBES
            && let Some((shard, id)) = self.topics[route].ready.pop_back()
        {
            let state = self.shards.get_mut(&shard);
            if let Some(lane) = state.and_then(|state| state.lanes.get_mut(&id)) {
                lane.ready = false;
                self.advance(shard, id, now);
            }
        }
    }

    /// Lets a lane that is not in work go on with its head, or read on, or go.
    pub(super) fn advance(&mut self, shard: Shard, id: LaneId, now: Instant) {
        let Some(state) = self.shards.get_mut(&shard) else {
            return;
        };
        let Some(lane) = state.lanes.get_mut(&id) else {
            return;
        };
        if lane.busy.is_some() || lane.held || lane.ready {
            return;
        }
        let Some(head) = lane.queue.front() else {
            if lane.skipped.is_some() {
                state.want_rewind(id);
            } else {
                state.lanes.remove(&id);
            }
            return;
        };
        let position = head.row.position;
        match (head.route, head.not_before) {
            (None, _) => self.waiting -= state.park(id, position, None),
            (_, Some(until)) if until > now => {
                self.waiting -= state.park(id, position, Some(until))
            }
            (Some(route), _) if self.topics[route].is_crowded() => {
                self.topics[route].aside = true;
                self.waiting -= state.set_aside(id, position, route);
            }
            (Some(route), _) => {
                lane.ready = true;
                self.topics[route].ready.push_back((shard, id));
            }
        }
    }
}

fn strange(row: &Row) -> Strange {
    Strange {
        obstacle: if row.fault.is_some() {
            Obstacle::Unreadable
        } else {
            Obstacle::Unknown
        },
        position: row.position,
        topic: row.topic.clone(),
        fault: row.fault.clone(),
    }
}
