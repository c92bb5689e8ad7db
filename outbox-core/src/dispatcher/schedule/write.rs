use super::{LaneId, Pending, Schedule};
use crate::store::Shard;
use std::ops::Bound::{Excluded, Included, Unbounded};
use tokio::time::Instant;

/// What is written when. Outcomes of a shard are written by one settle at a time.
impl Schedule {
    /// The oldest outcomes, if there are so many, and at most as many as that; those of a shard in their
    /// order. All that a shard has, as far as there is room: a settle locks each shard that it
    /// writes to. The shards take turns, and what comes after waits until the
    /// [end](Self::end_writing).
    pub(crate) fn take_outcomes(&mut self, least: usize, most: usize) -> Vec<Pending> {
        let mut taken = Vec::new();
        if self.writable < least {
            return taken;
        }
        let (turn, mut of_higher) = (self.settle_turn, 0);
        for range in [(Included(turn), Unbounded), (Unbounded, Excluded(turn))] {
            of_higher = taken.len();
            for (shard, state) in self.shards.range_mut(range) {
                let count = state.writable().min(most - taken.len());
                if count > 0 {
                    self.writable -= state.writable();
                    self.settle_turn = shard.saturating_add(1);
                    state.being_written = true;
                    taken.extend(state.outcomes.drain(..count));
                }
            }
        }
        self.writing += usize::from(!taken.is_empty());
        // As whoever locks shards does: in their order.
        taken.rotate_left(of_higher);
        taken
    }

    /// What was taken before of these shards is to be written: other outcomes of them wait.
    pub(crate) fn begin_writing(&mut self, shards: &[Shard]) {
        self.writing += 1;
        for shard in shards {
            if let Some(state) = self.shards.get_mut(shard) {
                self.writable -= state.writable();
                state.being_written = true;
            }
        }
    }

    /// What was taken of these shards is written.
    pub(crate) fn end_writing(&mut self, shards: &[Shard]) {
        self.writing -= 1;
        for shard in shards {
            if let Some(state) = self.shards.get_mut(shard) {
                self.writable -= state.writable();
                state.being_written = false;
                self.writable += state.writable();
            }
        }
    }

    /// How many outcomes may be written now.
    pub(crate) fn writable(&self) -> usize {
        self.writable
    }

    /// How many outcomes wait for being written.
    #[cfg(test)]
    pub(crate) fn unwritten(&self) -> usize {
        self.shards.values().map(|state| state.outcomes.len()).sum()
    }

    /// Whether the settler would write something if it looked: while it writes, a full batch.
    pub(crate) fn wants_settling(&self) -> bool {
        let least = if self.writing == 0 {
            1
        } else {
            self.config.settle_batch
        };
        self.writable >= least
    }

    /// The database refuses an outcome, or one before it in its lane: it waits aside, as long as it
    /// takes, and holds back its topic only.
    pub(crate) fn refused(&mut self, pending: &Pending) {
        self.unsettled -= 1;
        if let Some(route) = pending.route {
            self.topics[route].stuck += 1;
        }
    }

    /// It is tried again.
    pub(crate) fn refused_no_more(&mut self, pending: &Pending) {
        self.unsettled += 1;
        if let Some(route) = pending.route {
            self.topics[route].stuck -= 1;
        }
    }

    /// An outcome of the lane cannot be written: nothing more of it starts until it is.
    pub(crate) fn hold(&mut self, shard: Shard, lane: LaneId, held: bool, now: Instant) {
        let Some(state) = self.shards.get_mut(&shard) else {
            return;
        };
        state.lanes.entry(lane).or_default().held = held;
        if held {
            // It waits for no topic any more, and for longer than anybody knows.
            state.shorten(&mut self.window, lane, 1);
            state.recharge(&mut self.window, lane, None);
        } else {
            self.advance(shard, lane, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Ended,
        cases::{Case, Never, row},
    };
    use super::*;
    use crate::{
        dispatcher::route::Target,
        store::{Owned, Row},
    };

    #[tokio::test]
    async fn shards_take_turns_in_being_written() {
        let topic = ("a", Target::Handler(Box::new(Never)));
        let mut case = Case::of([topic], |_| {}, 0);
        case.schedule.own(Owned::new(1, 1, 0));
        let rows = (1..=6).map(|position| Row {
            shard: Shard::from(position > 4),
            ..row(position, &position.to_string(), "a")
        });
        case.fetched(rows.collect());
        while let Some(started) = case.start() {
            case.end(started, Ended::Done);
        }
        let taken = |taken: Vec<Pending>| -> Vec<_> {
            let settlements = taken.into_iter().map(|pending| pending.settlement);
            settlements.map(|settlement| settlement.position).collect()
        };
        let schedule = &mut case.schedule;
        assert_eq!(taken(schedule.take_outcomes(1, 2)), [1, 2]);
        assert!(schedule.take_outcomes(3, 3).is_empty(), "shard 0 waits");
        assert_eq!(taken(schedule.take_outcomes(1, 1)), [5]);
        assert_eq!(schedule.writable(), 0);
        schedule.end_writing(&[0]);
        schedule.end_writing(&[1]);
        assert_eq!(taken(schedule.take_outcomes(1, 2)), [3, 4]);
        schedule.end_writing(&[0]);
        assert_eq!(taken(schedule.take_outcomes(1, 2)), [6]);
        schedule.end_writing(&[1]);
        assert!(schedule.take_outcomes(0, 2).is_empty());
    }
}
