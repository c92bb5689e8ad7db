use crate::store::{Horizon, Position};
use std::{collections::VecDeque, time::Duration};
use tokio::time::Instant;

/// How far a shard was read, and below which position nothing can appear any more.
#[derive(Debug, Default)]
pub(crate) struct Floor {
    pub(crate) floor: Position,
    pub(crate) scan: Position,
    /// The highest position ever read.
    high: Position,
    /// Where fetches have found events in `(floor, scan]`: what else turns up there is late.
    read: Vec<Position>,
    /// Former values of `scan`, each with what must be seen before it becomes the floor.
    notes: VecDeque<Note>,
    /// When everything was read from the start.
    swept_at: Option<Instant>,
    /// How long after that it is read again: sooner where the floor is only a belief.
    sweep: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Note {
    scan: Position,
    bound: Bound,
}

#[derive(Debug, Clone, Copy)]
enum Bound {
    /// No transaction below this id is running.
    Transaction(u64),
    /// This time has come.
    Time(Instant),
}

/// A safety net under the proofs.
const SWEEP: Duration = Duration::from_secs(600);
/// Under a floor that nothing proves.
const SWEEP_UNPROVEN: Duration = Duration::from_secs(60);

/// More notes would only prove the floor in smaller steps.
const NOTES: usize = 64;

impl Floor {
    /// Whether an event has never been read before.
    pub(crate) fn is_new(&self, position: Position) -> bool {
        position > self.high
    }

    /// Those of these positions, which are sorted, at which nothing was before.
    pub(crate) fn late(
        &self,
        again: impl Iterator<Item = Position>,
    ) -> impl Iterator<Item = Position> {
        let mut read = self.read.iter().peekable();
        again.filter(move |position| {
            while read.next_if(|known| *known < position).is_some() {}
            read.next_if_eq(&position).is_none()
        })
    }

    /// A fetch has found these positions above the old floor, so that what it proves holds from now
    /// on.
    pub(crate) fn read_to(&mut self, mut read: Vec<Position>, horizon: Horizon, now: Instant) {
        self.scan = self.scan.max(read.last().copied().unwrap_or_default());
        self.high = self.high.max(self.scan);
        self.swept_at.get_or_insert(now);
        self.sweep = match horizon {
            Horizon::Within(_) => SWEEP_UNPROVEN,
            Horizon::Open | Horizon::CommitOrder | Horizon::Transactions { .. } => SWEEP,
        };
        match horizon {
            Horizon::Open => {}
            Horizon::CommitOrder => self.floor = self.scan,
            Horizon::Transactions { next, oldest } => {
                self.prove(|bound| matches!(bound, Bound::Transaction(id) if id <= oldest));
                self.note(Bound::Transaction(next));
            }
            Horizon::Within(longest) => {
                self.prove(|bound| matches!(bound, Bound::Time(at) if at <= now));
                self.note(Bound::Time(later(now, longest)));
            }
        }
        read.drain(..read.partition_point(|position| *position <= self.floor));
        self.read = read;
    }

    fn prove(&mut self, holds: impl Fn(Bound) -> bool) {
        while let Some(note) = self.notes.front().copied().filter(|note| holds(note.bound)) {
            self.floor = self.floor.max(note.scan);
            self.notes.pop_front();
        }
    }

    fn note(&mut self, bound: Bound) {
        let known = self.notes.back().map_or(self.floor, |note| note.scan);
        if self.scan > known && self.notes.len() < NOTES {
            let scan = self.scan;
            self.notes.push_back(Note { scan, bound });
        }
    }

    /// Reads again from just before a position. What was noted beyond it says nothing any more:
    /// there may be events that were read and not kept.
    pub(crate) fn back_to(&mut self, position: Position) {
        self.scan = self.scan.min(position - 1);
        self.floor = self.floor.min(self.scan);
        self.notes.retain(|note| note.scan <= self.scan);
        let kept = self.read.partition_point(|position| *position <= self.scan);
        self.read.truncate(kept);
    }

    /// Reads everything again when it was long ago; `true` when it is.
    pub(crate) fn sweep(&mut self, now: Instant) -> bool {
        let due = self.swept_at.is_some_and(|at| now >= at + self.sweep);
        if due {
            self.swept_at = Some(now);
            self.reset();
        }
        due
    }

    /// Reads everything again.
    pub(crate) fn reset(&mut self) {
        self.back_to(1);
    }
}

fn later(now: Instant, longest: Duration) -> Instant {
    // A span that the clock cannot hold never ends: nothing is proven.
    now.checked_add(longest)
        .unwrap_or(now + Duration::from_secs(u32::MAX.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transactions(next: u64, oldest: u64) -> Horizon {
        Horizon::Transactions { next, oldest }
    }

    #[tokio::test]
    async fn the_floor_waits_for_whoever_may_hold_a_lower_position() {
        let (mut floor, now) = (Floor::default(), Instant::now());
        // Tb took id 806 before; Ta (807) holds position 1, Tb committed 2. The snapshot's xmax
        // would be 807: the next id is 808.
        floor.read_to(vec![2], transactions(808, 807), now);
        assert_eq!((floor.floor, floor.scan), (0, 2));
        floor.read_to(Vec::new(), transactions(808, 807), now);
        assert_eq!(floor.floor, 0);
        floor.read_to(vec![3], transactions(809, 809), now);
        assert_eq!((floor.floor, floor.scan), (2, 3));
        floor.read_to(Vec::new(), transactions(809, 809), now);
        assert_eq!(floor.floor, 3);
    }

    #[tokio::test]
    async fn what_was_not_there_before_is_late() {
        let (mut floor, now) = (Floor::default(), Instant::now());
        let late = |floor: &Floor, again: &[Position]| -> Vec<Position> {
            floor.late(again.iter().copied()).collect()
        };
        floor.read_to(vec![2, 5, 9], transactions(9, 1), now);
        assert!(late(&floor, &[2, 5, 9]).is_empty());
        assert_eq!(late(&floor, &[1, 5, 7, 9]), [1, 7]);
        // The second and the third have been settled; what was late is not late again.
        floor.read_to(vec![1, 2, 7, 11], transactions(9, 1), now);
        assert_eq!(late(&floor, &[1, 2, 5, 7, 11]), [5]);
        // What is read again comes from the scan on.
        floor.back_to(7);
        assert_eq!((late(&floor, &[1, 2]), floor.scan), (vec![], 6));
        floor.read_to(vec![2, 7, 11], transactions(9, 9), now);
        assert_eq!((late(&floor, &[7, 11]), floor.floor), (vec![], 0));
    }

    #[tokio::test]
    async fn going_back_voids_what_was_noted_beyond() {
        let (mut floor, now) = (Floor::default(), Instant::now());
        floor.read_to(vec![10], transactions(5, 5), now);
        floor.back_to(4);
        floor.read_to(Vec::new(), transactions(9, 9), now);
        assert_eq!((floor.floor, floor.scan), (0, 3));
        floor.reset();
        assert_eq!((floor.floor, floor.scan), (0, 0));
        assert!(!floor.is_new(10));
    }

    #[tokio::test]
    async fn where_nothing_else_proves_it_time_does() {
        let (mut floor, now) = (Floor::default(), Instant::now());
        let longest = Duration::from_secs(60);
        floor.read_to(vec![10], Horizon::Within(longest), now);
        floor.read_to(vec![11], Horizon::Within(longest), now + longest / 2);
        assert_eq!(floor.floor, 0);
        floor.read_to(Vec::new(), Horizon::Within(longest), now + longest);
        assert_eq!(floor.floor, 10);
        floor.read_to(
            Vec::new(),
            Horizon::Within(Duration::MAX),
            now + longest * 2,
        );
        assert_eq!(floor.floor, 11);
    }
}
