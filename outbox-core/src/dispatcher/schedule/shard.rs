use super::{
    finish::Pending,
    floor::Floor,
    lane::{ByNumber, Lane, LaneId, Parked, Waiting},
    window::Window,
};
use crate::{
    dispatcher::router::RouteId,
    store::{Cursor, Horizon, Owned, Position},
};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet, VecDeque},
    time::Duration,
};
use tokio::time::Instant;

/// What is known of one owned shard: how far it was read, and the lanes in memory.
#[derive(Debug)]
pub(crate) struct ShardState {
    pub(crate) owned: Owned,
    /// It is to be handed over: nothing more is read or started.
    pub(crate) draining: bool,
    /// Outcomes that have not committed.
    pub(crate) unsettled: usize,
    /// As the last fetch saw it; `None` until the first.
    pub(crate) revision: Option<i64>,
    pub(crate) floor: Floor,
    /// How many events the fetch under way reads at most.
    limit: usize,
    /// It was not the last to be read: as many came as were asked for, or reading has gone back.
    pub(crate) more: bool,
    /// The positions in memory: waiting, in work, being written, or settled too recently for a
    /// fetch under way to know.
    known: ByNumber<Position, ()>,
    /// Settled positions, with the number of fetches that had been sent when they committed.
    settled: VecDeque<(u64, Position)>,
    pub(crate) lanes: ByNumber<LaneId, Lane>,
    pub(crate) parked: ByNumber<LaneId, Parked>,
    /// When the heads of parked lanes may be tried again.
    timers: BinaryHeap<Reverse<(Instant, LaneId, Position)>>,
    /// Reading goes back to just before this position, for the lanes that want it.
    rewind: Option<Position>,
    rewound_at: Option<Instant>,
    /// How long the last reading from there to the end took, if it has come there.
    reading_took: Option<Duration>,
    wanting: Vec<LaneId>,
    /// Suspects whose crashes have been raised by this owner.
    raised: HashSet<Position>,
    /// What is to be written, in the order it arose.
    pub(crate) outcomes: VecDeque<Pending>,
    /// Outcomes that arose before those are being written: these wait.
    pub(crate) being_written: bool,
    /// Successes that have not committed, by lane; only where handlers' transactions, which are
    /// not written in that order, must wait for them.
    unwritten: ByNumber<LaneId, usize>,
}

/// How often reading goes back at most while there is other work.
const REWIND_PAUSE: Duration = Duration::from_secs(1);

impl ShardState {
    pub(crate) fn new(owned: Owned) -> Self {
        Self {
            owned,
            draining: false,
            unsettled: 0,
            revision: None,
            floor: Floor::default(),
            limit: 0,
            more: false,
            known: ByNumber::default(),
            settled: VecDeque::new(),
            lanes: ByNumber::default(),
            parked: ByNumber::default(),
            timers: BinaryHeap::new(),
            rewind: None,
            rewound_at: None,
            reading_took: None,
            wanting: Vec::new(),
            raised: HashSet::new(),
            outcomes: VecDeque::new(),
            being_written: false,
            unwritten: ByNumber::default(),
        }
    }

    /// Where to read on. The first fetch of a shard is thrown away: it reads nothing.
    pub(crate) fn cursor(&mut self, limit: usize) -> Cursor {
        self.limit = if self.revision.is_none() { 0 } else { limit };
        Cursor {
            floor: self.floor.floor,
            scan: self.floor.scan,
            ..Cursor::new(self.owned.shard, self.owned.epoch, self.limit)
        }
    }

    /// A fetch has read these positions: all above the floor, so many of them beyond the scan.
    pub(crate) fn read_to(
        &mut self,
        read: Vec<Position>,
        beyond: usize,
        horizon: Horizon,
        now: Instant,
    ) {
        self.more = self.limit > 0 && beyond >= self.limit;
        self.floor.read_to(read, horizon, now);
    }

    pub(crate) fn knows(&self, position: Position) -> bool {
        self.known.contains_key(&position)
    }

    pub(crate) fn learn(&mut self, position: Position) {
        self.known.insert(position, ());
    }

    pub(crate) fn forget(&mut self, position: Position) {
        self.known.remove(&position);
    }

    /// A settle has committed. A fetch that was sent before may still return the event, so that
    /// it stays known until one that was sent afterwards has come back.
    pub(crate) fn settled(&mut self, position: Position, fetches_sent: u64) {
        self.settled.push_back((fetches_sent, position));
    }

    /// The fetch with this number has come back.
    pub(crate) fn fetched(&mut self, fetch: u64) {
        while let Some((sent, position)) = self.settled.front().copied() {
            if sent >= fetch {
                break;
            }
            self.settled.pop_front();
            self.known.remove(&position);
            self.raised.remove(&position);
        }
    }

    /// How many outcomes may be written now.
    pub(crate) fn writable(&self) -> usize {
        if self.being_written {
            0
        } else {
            self.outcomes.len()
        }
    }

    /// A success of the lane is to be written.
    pub(crate) fn succeeded(&mut self, id: LaneId) {
        *self.unwritten.entry(id).or_default() += 1;
    }

    /// A success of the lane has committed. Whether it was the last one that was waited for.
    pub(crate) fn success_committed(&mut self, id: LaneId) -> bool {
        let Some(count) = self.unwritten.get_mut(&id) else {
            return false;
        };
        *count -= 1;
        let last = *count == 0;
        if last {
            self.unwritten.remove(&id);
        }
        last
    }

    /// Whether a success of the lane has not committed.
    pub(crate) fn has_unwritten(&self, id: LaneId) -> bool {
        self.unwritten.contains_key(&id)
    }

    /// Whether an event may have been in work when a former owner died, and has not been marked.
    pub(crate) fn is_suspect(&self, position: Position) -> bool {
        position <= self.owned.suspect_to && !self.raised.contains(&position)
    }

    pub(crate) fn raised(&mut self, position: Position) {
        self.raised.insert(position);
    }

    /// Takes a lane out of memory until something lets its head run again. Its waiting events are
    /// forgotten; reading comes back for them.
    pub(crate) fn park(
        &mut self,
        window: &mut Window,
        id: LaneId,
        head: Position,
        until: Option<Instant>,
    ) -> &mut Parked {
        let lane = self.lanes.remove(&id).unwrap_or_default();
        let mut parked = Parked {
            head,
            skipped: None,
            aside: false,
        };
        let waiting = lane.queue.iter().map(|event| event.row.position);
        for position in waiting.chain(lane.skipped) {
            parked.skip(position);
        }
        window.remove(lane.topic, lane.queue.len());
        for Waiting { row, .. } in lane.queue {
            self.known.remove(&row.position);
        }
        if let Some(until) = until {
            self.timers.push(Reverse((until, id, head)));
        }
        self.parked.entry(id).insert_entry(parked).into_mut()
    }

    /// Whether a lane is still set aside with this head.
    pub(crate) fn is_aside(&self, id: LaneId, head: Position) -> bool {
        let parked = self.parked.get(&id);
        parked.is_some_and(|parked| parked.aside && parked.head == head)
    }

    /// A lane waits for another topic than before.
    pub(crate) fn recharge(&mut self, window: &mut Window, id: LaneId, topic: Option<RouteId>) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            window.remove(lane.topic, lane.queue.len());
            window.add(topic, lane.queue.len());
            lane.topic = topic;
        }
    }

    /// Leaves out what waits in a lane beyond the first few events. A head that is about to start
    /// stays.
    pub(crate) fn shorten(&mut self, window: &mut Window, id: LaneId, keep: usize) {
        let Some(lane) = self.lanes.get_mut(&id) else {
            return;
        };
        let keep = keep.max(usize::from(lane.busy.is_none()));
        let beyond = lane.queue.split_off(lane.queue.len().min(keep));
        window.remove(lane.topic, beyond.len());
        for Waiting { row, .. } in beyond {
            self.known.remove(&row.position);
            lane.skip(row.position);
        }
    }

    /// Lets a parked lane run again, empty: whoever calls puts its head in or reads on.
    pub(crate) fn unpark(&mut self, id: LaneId) -> &mut Lane {
        let skipped = self.parked.remove(&id).and_then(|parked| parked.skipped);
        let lane = self.lanes.entry(id).or_default();
        if let Some(skipped) = skipped {
            lane.skip(skipped);
        }
        lane
    }

    /// The heads whose time has come.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<(LaneId, Position)> {
        let mut due = Vec::new();
        while let Some(Reverse((until, lane, head))) = self.timers.peek().copied() {
            if until > now {
                break;
            }
            self.timers.pop();
            if self
                .parked
                .get(&lane)
                .is_some_and(|parked| parked.head == head)
            {
                due.push((lane, head));
            }
        }
        due
    }

    pub(crate) fn retry_later(&mut self, lane: LaneId, head: Position, until: Instant) {
        self.timers.push(Reverse((until, lane, head)));
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.timers.peek().map(|Reverse((until, ..))| *until)
    }

    /// Asks for the events of a lane that were left out.
    pub(crate) fn want_rewind(&mut self, id: LaneId) {
        let Some(lane) = self.lanes.get_mut(&id) else {
            return;
        };
        let Some(skipped) = lane.skipped else { return };
        self.rewind = Some(self.rewind.map_or(skipped, |rewind| rewind.min(skipped)));
        if !lane.wants_rewind {
            lane.wants_rewind = true;
            self.wanting.push(id);
        }
    }

    /// When reading may go back, if any lane wants it: most of the time it goes on.
    pub(crate) fn rewind_at(&self, now: Instant) -> Option<Instant> {
        let pause = self.reading_took.unwrap_or_default() * 2;
        let earliest = |at: Instant| at + REWIND_PAUSE.max(pause);
        self.rewind.map(|_| self.rewound_at.map_or(now, earliest))
    }

    /// Reading has come to the end, or there is no room to read on.
    pub(crate) fn read_up(&mut self, now: Instant) {
        let since = self.rewound_at.map(|at| now.saturating_duration_since(at));
        self.reading_took = self.reading_took.or(since);
    }

    /// Goes back. One read path: whatever comes, comes in the order of positions.
    pub(crate) fn apply_rewind(&mut self, now: Instant) {
        let Some(mut rewind) = self.rewind.take() else {
            return;
        };
        (self.rewound_at, self.reading_took) = (Some(now), None);
        self.more = true;
        let mut wanting = std::mem::take(&mut self.wanting);
        // A lane that was parked since is another one: it asks by itself for what it left out then.
        wanting.retain(|id| self.lanes.get(id).is_some_and(|lane| lane.wants_rewind));
        for id in wanting {
            let Some(lane) = self.lanes.get_mut(&id) else {
                continue;
            };
            lane.wants_rewind = false;
            // It may have left out an earlier one since it asked.
            rewind = lane
                .skipped
                .take()
                .map_or(rewind, |skipped| skipped.min(rewind));
            if lane.is_empty() {
                self.lanes.remove(&id);
            }
        }
        self.floor.back_to(rewind);
    }

    /// Goes back to an event that has committed late.
    pub(crate) fn go_back(&mut self, position: Position) {
        self.more = true;
        self.floor.back_to(position);
    }

    pub(crate) fn wants_rewind(&self) -> bool {
        self.rewind.is_some()
    }

    /// Whether nothing is in work and everything is written.
    pub(crate) fn is_quiet(&self) -> bool {
        self.unsettled == 0 && self.lanes.values().all(|lane| lane.busy.is_none())
    }

    #[cfg(test)]
    pub(crate) fn raised_positions(&self) -> usize {
        self.raised.len()
    }

    #[cfg(test)]
    pub(crate) fn known_positions(&self) -> usize {
        self.known.len()
    }

    /// Reads everything anew: an operator has brought back or removed events. What is in work or
    /// being written stays.
    pub(crate) fn reset(&mut self, window: &mut Window) {
        for lane in self.lanes.values_mut() {
            window.remove(lane.topic, lane.queue.len());
            for Waiting { row, .. } in lane.queue.drain(..) {
                self.known.remove(&row.position);
            }
            lane.skipped = None;
            lane.wants_rewind = false;
            lane.ready = false;
        }
        self.lanes.retain(|_, lane| !lane.is_empty());
        self.parked.clear();
        self.timers.clear();
        self.wanting.clear();
        self.rewind = None;
        self.floor.reset();
    }
}
