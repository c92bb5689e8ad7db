use super::{LaneId, Schedule, lane::Waiting, shard::ShardState};
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

/// What to do about events that have committed late.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// Read them by position: there are none, or few.
    Read(Vec<Position>),
    /// Reading has gone back to them: read anew.
    WentBack,
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
        let idle = self.window.waiting() == 0;
        let read_up = !self.reads_on();
        for shard in self.shards.values_mut() {
            if read_up {
                shard.read_up(now);
            }
            let due = |at| idle || read_up && at <= now;
            if shard.rewind_at(now).is_some_and(due) {
                shard.apply_rewind(now);
            }
        }
    }

    /// Where to read on; nowhere when there is no room. Counts as a fetch sent.
    ///
    /// The shards that have more share the batch, so that what is read has its place in memory; the
    /// others may have got something since, and share as much again.
    pub(crate) fn send_fetch(&mut self) -> Vec<Cursor> {
        self.fetches += 1;
        let batch = self.config.batch.min(self.room());
        if batch == 0 {
            return Vec::new();
        }
        let read = |state: &&mut ShardState| !state.draining;
        let (mut all, mut full) = (0, 0);
        for state in self.shards.values_mut().filter(read) {
            (all, full) = (all + 1, full + usize::from(state.more));
        }
        let share = |shards: usize| batch.div_ceil(shards.max(1));
        let states = self.shards.values_mut().filter(read);
        states
            .map(|state| state.cursor(share(if state.more { full } else { all })))
            .collect()
    }

    /// How many more events may be read now.
    pub(crate) fn room(&self) -> usize {
        if self.waits_for_a_topic() {
            0
        } else {
            self.window.room()
        }
    }

    /// Whether reading goes on: there is more, and room for it.
    pub(crate) fn reads_on(&self) -> bool {
        self.more && self.room() >= self.config.batch.min(self.window.share())
    }

    /// How many events wait in memory.
    pub(crate) fn waiting(&self) -> usize {
        self.window.waiting()
    }

    /// Forgets what was read of shards that an operator has changed. A fetch that shows it is
    /// thrown away whole: it may already lack the event that comes first. So is the first one of a
    /// shard: what is held back is read after it.
    pub(crate) fn reset_changed(&mut self, seen: &[Seen]) -> Vec<Shard> {
        let mut changed = Vec::new();
        for seen in seen {
            let Some(shard) = self.shards.get_mut(&seen.shard) else {
                continue;
            };
            let before = shard.revision.replace(seen.revision);
            if before != Some(seen.revision) {
                shard.reset(&mut self.window);
                changed.push(seen.shard);
            }
        }
        self.forget_queues(&changed);
        changed
    }

    /// What has committed late: where there are events in `(floor, scan]` that no fetch has found
    /// there before. They come in together with what the fetch has read, or their successors would
    /// come first; where they are too many for that, reading goes back to them, and the fetch is
    /// thrown away.
    pub(crate) fn late(&mut self, fetched: &Fetched) -> Late {
        let mut all = Vec::new();
        let mut first = Vec::new();
        for again in fetched.again.chunk_by(|(one, _), (other, _)| one == other) {
            let Some(state) = self.shards.get(&again[0].0) else {
                continue;
            };
            let late = state
                .floor
                .late(again.iter().map(|(_, position)| *position));
            let before = all.len();
            all.extend(late);
            first.extend(all.get(before).map(|position| (again[0].0, *position)));
        }
        if all.len() <= self.config.batch {
            return Late::Read(all);
        }
        for (shard, position) in first {
            if let Some(state) = self.shards.get_mut(&shard) {
                state.go_back(position);
            }
        }
        Late::WentBack
    }

    /// Takes in what a fetch has read, and the late events of it. Returns the events that nobody here
    /// can handle, the first time they are seen.
    pub(crate) fn admit(&mut self, fetched: Fetched, now: Instant) -> Vec<Strange> {
        let mut strange = Vec::new();
        // First, so that an event which an operator has brought back is not taken for what a
        // fetch from before its settle would show.
        for seen in &fetched.shards {
            if let Some(state) = self.shards.get_mut(&seen.shard) {
                state.fetched(self.fetches);
            }
        }
        let mut read: HashMap<Shard, (Vec<Position>, usize)> = HashMap::new();
        for (shard, position) in fetched.again {
            read.entry(shard).or_default().0.push(position);
        }
        for row in fetched.rows {
            let scan = self.shards.get(&row.shard).map(|state| state.floor.scan);
            if scan.is_some_and(|scan| row.position > scan) {
                let (read, beyond) = read.entry(row.shard).or_default();
                read.push(row.position);
                *beyond += 1;
            }
            strange.extend(self.admit_row(row, now));
        }
        for seen in &fetched.shards {
            if let Some(state) = self.shards.get_mut(&seen.shard) {
                let (read, beyond) = read.remove(&seen.shard).unwrap_or_default();
                state.read_to(read, beyond, fetched.horizon, now);
            }
        }
        let mut read = self.shards.values().filter(|state| !state.draining);
        self.more = read.any(|state| state.more);
        self.publish_gauges();
        strange
    }

    fn admit_row(&mut self, row: Row, now: Instant) -> Option<Strange> {
        let found = self.find(&row);
        let route = found.filter(|_| !self.paused.contains(&row.topic));
        let state = self.shards.get_mut(&row.shard)?;
        let (shard, position, lane) = (row.shard, row.position, self.hasher.of(&row));
        if state.knows(position) {
            return None;
        }
        if let Some(parked) = state.parked.get_mut(&lane) {
            parked.skip(position);
            return None;
        }
        let strange = (found.is_none() && state.floor.is_new(position)).then(|| strange(&row));
        let holds_back = row.ordered && row.key.is_some();
        if route.is_some() || holds_back {
            let not_before = row.retry_in.map(|wait| now + wait);
            let event = Waiting {
                row: Box::new(row),
                route,
                not_before,
            };
            self.admit_event(shard, lane, event, now);
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

    /// Puts an event into its lane, or remembers that it was left out.
    fn admit_event(&mut self, shard: Shard, id: LaneId, event: Waiting, now: Instant) {
        let longest = LANE_EVENTS.max(self.window.room() / 2);
        let Some(state) = self.shards.get_mut(&shard) else {
            return;
        };
        let position = event.row.position;
        if let Some(lane) = state.lanes.get_mut(&id).filter(|lane| lane.held) {
            return lane.skip(position);
        }
        let waits_for = match state.lanes.get(&id) {
            Some(lane) if !lane.queue.is_empty() || lane.busy.is_some() => lane.topic,
            _ => event.route,
        };
        let full = waits_for.filter(|topic| {
            self.topics[*topic].overflows && self.window.of(*topic) >= self.window.share()
        });
        match (full, state.lanes.get_mut(&id)) {
            (None, _) => {
                let lane = state.lanes.entry(id).or_default();
                lane.topic = waits_for;
                if lane.admit(event, longest) {
                    self.window.add(waits_for, 1);
                    state.learn(position);
                    self.advance(shard, id, now);
                }
            }
            (Some(_), Some(lane)) => lane.skip(position),
            (Some(topic), None) => self.set_aside(topic, shard, id, position),
        }
    }

    /// Where an event goes now; nowhere while its topic is paused.
    fn route_of(&self, row: &Row) -> Option<RouteId> {
        self.find(row).filter(|_| !self.paused.contains(&row.topic))
    }

    /// Where an event could be handled here.
    fn find(&self, row: &Row) -> Option<RouteId> {
        self.router.find(&row.topic).filter(|_| row.fault.is_none())
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
        let recalled = self.recall().into_iter();
        heads.extend(recalled.map(|(position, shard, lane)| Head {
            shard,
            lane,
            position,
        }));
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
            let row = rows.remove(position);
            let route = row.as_ref().and_then(|row| self.route_of(row));
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
            if let Some(row) = row {
                let event = Waiting {
                    route,
                    not_before: row.retry_in.map(|wait| now + wait),
                    row: Box::new(row),
                };
                entry.queue.push_front(event);
                entry.topic = route;
                state.learn(*position);
                self.window.add(route, 1);
                // As many may fall due at once as there are.
                if let Some(topic) = route.filter(|topic| self.window.is_over(*topic)) {
                    self.topics[topic].overflows = true;
                }
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
            (None, _) => {
                state.park(&mut self.window, id, position, None);
            }
            (_, Some(until)) if until > now => {
                state.park(&mut self.window, id, position, Some(until));
            }
            (Some(route), _) => {
                lane.ready = true;
                state.recharge(&mut self.window, id, Some(route));
                if self.is_crowded(route, (shard, id)) {
                    self.set_aside(route, shard, id, position);
                } else {
                    self.topics[route].ready.push_back((shard, id));
                }
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
