use super::{LaneId, Schedule};
use crate::store::{Owned, Position, Shard};

/// An event, and how many crashes it has on it now.
pub(crate) type Mark = (Position, u32);

/// Events that may have been in work when a former owner of their shard died.
///
/// Such an event is marked in the store when it is about to start, not when it is read: what has
/// not been started cannot have crashed anything. Marked a second time it runs alone, so that the
/// third crash is certainly its own.
impl Schedule {
    /// How many crashes the head of a lane would have on it when it starts.
    pub(super) fn crashes_at_start(&self, shard: Shard, lane: LaneId) -> Option<u32> {
        let state = self.shards.get(&shard)?;
        let row = &state.lanes.get(&lane)?.queue.front()?.row;
        Some(
            row.crashes
                .saturating_add(state.is_suspect(row.position).into()),
        )
    }

    /// Asks for the head of a lane to be marked, unless that is under way.
    pub(super) fn mark(&mut self, shard: Shard, lane: LaneId) {
        if !self.marking.contains(&(shard, lane)) {
            self.marking.push((shard, lane));
        }
    }

    /// Whether no further event may be marked: marks and deliveries share the concurrency.
    pub(super) fn marks_full(&self) -> bool {
        self.marking.len() + self.in_work >= self.config.concurrency
    }

    /// Whether a head is to be marked before it may start.
    pub(crate) fn wants_marks(&self) -> bool {
        !self.marking.is_empty()
    }

    /// The positions to be marked in the store, each with its number of crashes.
    pub(crate) fn marks(&self) -> Vec<(Owned, Vec<Mark>)> {
        let mut marks: Vec<(Owned, Vec<Mark>)> = Vec::new();
        for (shard, lane) in &self.marking {
            let Some(state) = self.shards.get(shard) else {
                continue;
            };
            let Some(head) = state.lanes.get(lane).and_then(|lane| lane.queue.front()) else {
                continue;
            };
            let mark = (head.row.position, head.row.crashes.saturating_add(1));
            match marks.iter_mut().find(|(owned, _)| owned.shard == *shard) {
                Some((_, marks)) => marks.push(mark),
                None => marks.push((state.owned, vec![mark])),
            }
        }
        marks
    }

    /// The store has marked these positions: their lanes may start.
    pub(crate) fn marked(&mut self, shard: Shard, marks: &[Mark]) {
        let marking = std::mem::take(&mut self.marking);
        for (of, lane) in marking {
            if of != shard {
                self.marking.push((of, lane));
                continue;
            }
            let Some(state) = self.shards.get_mut(&shard) else {
                continue;
            };
            let Some(entry) = state.lanes.get_mut(&lane) else {
                continue;
            };
            let Some(head) = entry.queue.front() else {
                continue;
            };
            let (position, route, ready) = (head.row.position, head.route, entry.ready);
            if let Some((_, crashes)) = marks.iter().find(|(marked, _)| *marked == position) {
                entry.queue[0].row.crashes = *crashes;
                state.raised(position);
            }
            // A lane that runs alone has its place in the other queue.
            let solo = self.solo.contains(&(shard, lane));
            if let (false, true, Some(route)) = (solo, ready, route) {
                self.topics[route].ready.push_front((shard, lane));
            }
        }
    }
}
