use super::{
    finish::Pending,
    floor::Floor,
    lane::{Lane, LaneId, Parked, Waiting},
};
use crate::{
    dispatcher::router::RouteId,
    store::{Cursor, Owned, Position},
};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet, VecDeque},
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
    /// The positions in memory: waiting, in work, being written, or settled too recently for a
    /// fetch under way to know.
    known: HashSet<Position>,
    /// Settled positions, with the number of fetches that had been sent when they committed.
    settled: VecDeque<(u64, Position)>,
    pub(crate) lanes: HashMap<LaneId, Lane>,
    pub(crate) parked: HashMap<LaneId, Parked>,
    /// When the heads of parked lanes may be tried again.
    timers: BinaryHeap<Reverse<(Instant, LaneId, Position)>>,
    /// Reading goes back to just before this position, for the lanes that want it.
    rewind: Option<Position>,
    rewound_at: Option<Instant>,
    wanting: Vec<LaneId>,
    /// Topics whose lanes come back when reading goes back.
    recalled: Vec<RouteId>,
    /// Suspects whose crashes have been raised by this owner.
    raised: HashSet<Position>,
    /// What is to be written, in the order it arose.
    pub(crate) outcomes: VecDeque<Pending>,
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
            known: HashSet::new(),
            settled: VecDeque::new(),
            lanes: HashMap::new(),
            parked: HashMap::new(),
            timers: BinaryHeap::new(),
            rewind: None,
            rewound_at: None,
            wanting: Vec::new(),
            recalled: Vec::new(),
            raised: HashSet::new(),
            outcomes: VecDeque::new(),
        }
    }

    pub(crate) fn cursor(&self) -> Cursor {
        Cursor {
            floor: self.floor.floor,
            scan: self.floor.scan,
            ..Cursor::new(self.owned.shard, self.owned.epoch)
        }
    }

    pub(crate) fn knows(&self, position: Position) -> bool {
        self.known.contains(&position)
    }

    pub(crate) fn learn(&mut self, position: Position) {
        self.known.insert(position);
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
        }
    }

    /// Whether an event may have been in work when a former owner died, and has not been marked.
    pub(crate) fn is_suspect(&self, position: Position) -> bool {
        position <= self.owned.suspect_to && !self.raised.contains(&position)
    }

    pub(crate) fn raised(&mut self, position: Position) {
        self.raised.insert(position);
    }

    /// Takes a lane out of memory until something lets its head run again. Returns how many
    /// waiting events were forgotten; reading comes back for them.
    pub(crate) fn park(&mut self, id: LaneId, head: Position, until: Option<Instant>) -> usize {
        let lane = self.lanes.remove(&id).unwrap_or_default();
        let mut parked = Parked {
            head,
            skipped: None,
            aside: None,
        };
        let waiting = lane.queue.iter().map(|event| event.row.position);
        for position in waiting.chain(lane.skipped) {
            parked.skip(position);
        }
        let forgotten = lane.queue.len();
        for Waiting { row, .. } in lane.queue {
            self.known.remove(&row.position);
        }
        self.parked.insert(id, parked);
        if let Some(until) = until {
            self.timers.push(Reverse((until, id, head)));
        }
        forgotten
    }

    /// Parks a lane until its topic is up again. Returns how many waiting events were forgotten.
    pub(crate) fn set_aside(&mut self, id: LaneId, head: Position, topic: RouteId) -> usize {
        let forgotten = self.park(id, head, None);
        if let Some(parked) = self.parked.get_mut(&id) {
            parked.aside = Some(topic);
        }
        forgotten
    }

    /// Asks for the lanes that were set aside for a topic.
    pub(crate) fn recall(&mut self, topic: RouteId) {
        let aside = self
            .parked
            .values()
            .filter(|lane| lane.aside == Some(topic));
        let Some(lowest) = aside.map(|lane| lane.head).min() else {
            return;
        };
        self.rewind = Some(self.rewind.map_or(lowest, |rewind| rewind.min(lowest)));
        self.recalled.push(topic);
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

    /// When reading may go back, if any lane wants it.
    pub(crate) fn rewind_at(&self, now: Instant) -> Option<Instant> {
        let earliest = |at: Instant| at + REWIND_PAUSE;
        self.rewind.map(|_| self.rewound_at.map_or(now, earliest))
    }

    /// Goes back. One read path: whatever comes, comes in the order of positions.
    pub(crate) fn apply_rewind(&mut self, now: Instant) {
        let Some(mut rewind) = self.rewind.take() else {
            return;
        };
        self.rewound_at = Some(now);
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
        // They stay parked until now, or what is read meanwhile would overtake their heads.
        let recalled = std::mem::take(&mut self.recalled);
        self.parked.retain(|_, lane| {
            let comes = lane.aside.is_some_and(|topic| recalled.contains(&topic));
            if comes {
                rewind = rewind.min(lane.head);
            }
            !comes
        });
        self.floor.back_to(rewind);
    }

    pub(crate) fn wants_rewind(&self) -> bool {
        self.rewind.is_some()
    }

    /// Whether nothing is in work and everything is written.
    pub(crate) fn is_quiet(&self) -> bool {
        self.unsettled == 0 && self.lanes.values().all(|lane| lane.busy.is_none())
    }

    #[cfg(test)]
    pub(crate) fn known_positions(&self) -> usize {
        self.known.len()
    }

    /// Reads everything anew: an operator has brought back or removed events. What is in work or
    /// being written stays. Returns how many waiting events were forgotten.
    pub(crate) fn reset(&mut self) -> usize {
        let mut forgotten = 0;
        for lane in self.lanes.values_mut() {
            for Waiting { row, .. } in lane.queue.drain(..) {
                self.known.remove(&row.position);
                forgotten += 1;
            }
            lane.skipped = None;
            lane.wants_rewind = false;
            lane.ready = false;
        }
        self.lanes.retain(|_, lane| !lane.is_empty());
        self.parked.clear();
        self.timers.clear();
        self.wanting.clear();
        self.recalled.clear();
        self.rewind = None;
        self.floor.reset();
        forgotten
    }
}
