use crate::{
    dispatcher::router::RouteId,
    store::{Position, Row},
};
use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
};
use tokio::time::Instant;

/// An aggregate, or a single event without an order: what is handled one at a time.
///
/// A hash: two aggregates that share one wait for each other, which is slower but never wrong.
pub(crate) type LaneId = u64;

/// Computes lane ids; different in every process.
#[derive(Debug, Default)]
pub(crate) struct LaneHasher(RandomState);

impl LaneHasher {
    pub(crate) fn of(&self, row: &Row) -> LaneId {
        match &row.key {
            Some(key) if row.ordered => self.aggregate(&row.aggregate, key),
            _ => self.0.hash_one(row.id),
        }
    }

    pub(crate) fn aggregate(&self, aggregate: &str, key: &str) -> LaneId {
        self.0.hash_one((aggregate, key))
    }
}

/// Spreads the numbers of lanes and positions over a table: the former are hashes already, the latter
/// are chosen by a database.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spread(u64);

/// A map by lane or position.
pub(crate) type ByNumber<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Of the golden ratio: it leaves no bit as it was.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// An event in memory, and where it goes.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// By itself: a lane that comes and goes with one event takes little room.
    pub(crate) row: Box<Row>,
    /// `None` where nobody here can handle the event: at the head it parks its lane.
    pub(crate) route: Option<RouteId>,
    /// The time of its next attempt.
    pub(crate) not_before: Option<Instant>,
}

/// A lane with events in memory.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// The events that wait, by position.
    pub(crate) queue: VecDeque<Waiting>,
    /// The topic that they wait for: that of the event in work, or of the first one.
    pub(crate) topic: Option<RouteId>,
    /// The event whose delivery is under way, or whose retry or dead letter is being written.
    pub(crate) busy: Option<Position>,
    /// The lowest event that was read and not kept. While it stands, nothing beyond it enters:
    /// the shard is read again from there first.
    pub(crate) skipped: Option<Position>,
    /// Whether the lane stands in its topic's queue.
    pub(crate) ready: bool,
    /// An outcome could not be written: nothing more starts until it is.
    pub(crate) held: bool,
    /// Whether reading again was asked for.
    pub(crate) wants_rewind: bool,
}

/// A lane that cannot run. Only positions are remembered, however long it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parked {
    /// The event that cannot be delivered now, or the dead letter that blocks.
    pub(crate) head: Position,
    /// The lowest event behind it that was read and not kept.
    pub(crate) skipped: Option<Position>,
    /// It may run but for its topic, which has enough in memory or is down.
    pub(crate) aside: bool,
}

impl Lane {
    /// Puts an event in its place; `false` when it was left out.
    pub(crate) fn admit(&mut self, event: Waiting, longest: usize) -> bool {
        let position = event.row.position;
        match self.skipped {
            // Reading has come back to where it left off.
            Some(skipped) if skipped == position && self.queue.len() < longest => {
                self.skipped = None;
            }
            Some(skipped) if skipped <= position => return false,
            _ if self.queue.len() >= longest => {
                self.skip(position);
                return false;
            }
            _ => {}
        }
        let place = self
            .queue
            .partition_point(|other| other.row.position < position);
        self.queue.insert(place, event);
        true
    }

    /// Remembers that an event was read and not kept.
    pub(crate) fn skip(&mut self, position: Position) {
        self.skipped = lower(self.skipped, position);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.busy.is_none() && self.skipped.is_none() && !self.held
    }
}

impl Parked {
    pub(crate) fn skip(&mut self, position: Position) {
        if position != self.head {
            self.skipped = lower(self.skipped, position);
        }
    }
}

fn lower(known: Option<Position>, position: Position) -> Option<Position> {
    Some(known.map_or(position, |known| known.min(position)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn event(position: Position) -> Waiting {
        Waiting {
            row: Box::new(Row::new(0, position, Uuid::nil())),
            route: None,
            not_before: None,
        }
    }

    fn positions(lane: &Lane) -> Vec<Position> {
        lane.queue.iter().map(|event| event.row.position).collect()
    }

    #[test]
    fn nothing_enters_beyond_what_was_left_out() {
        let mut lane = Lane::default();
        for position in 1..=3 {
            assert!(lane.admit(event(position), 3));
        }
        assert!(!lane.admit(event(4), 3));
        lane.queue.clear();
        assert!(!lane.admit(event(5), 3), "4 is missing");
        assert!(lane.admit(event(4), 3));
        assert!(lane.admit(event(5), 3));
        assert_eq!(positions(&lane), [4, 5]);
        assert_eq!(lane.skipped, None);
    }

    #[test]
    fn a_late_commit_takes_its_place() {
        let mut lane = Lane::default();
        for position in [5, 9, 7] {
            assert!(lane.admit(event(position), 10));
        }
        assert_eq!(positions(&lane), [5, 7, 9]);
    }

    #[test]
    fn unordered_events_are_lanes_of_their_own() {
        let hasher = LaneHasher::default();
        let event = |id: u128, ordered| Row {
            key: Some("1".to_owned()),
            ordered,
            ..Row::new(0, 1, Uuid::from_u128(id))
        };
        assert_eq!(hasher.of(&event(1, true)), hasher.of(&event(2, true)));
        assert_ne!(hasher.of(&event(1, false)), hasher.of(&event(2, false)));
        let keyless = |id| Row {
            key: None,
            ..event(id, true)
        };
        assert_ne!(hasher.of(&keyless(1)), hasher.of(&keyless(2)));
    }
}
