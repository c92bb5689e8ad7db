use super::{Job, LaneId, Schedule, Ticket, lane::Waiting, shard::ShardState};
use crate::{
    dispatcher::{
        failure::Failure,
        router::RouteId,
        stats::add,
        verdict::{Case, Decision, dead, decide},
    },
    handler::Wish,
    retry::RetryPolicy,
    store::{DeadReason, Owned, Position, Settlement, Shard, Verdict},
};
use tokio::time::Instant;

/// How the delivery of one event ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Done,
    Failed(Failure),
    /// The event's schema version is newer than this build's: it waits for a newer build.
    Newer,
    /// Its payload, read now, is none.
    Unreadable,
    /// Somebody else has settled the event meanwhile.
    Gone,
}

/// An outcome on its way to the store.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) owned: Owned,
    pub(crate) lane: LaneId,
    /// Where the event went.
    pub(crate) route: Option<RouteId>,
    pub(crate) settlement: Settlement,
}

impl Schedule {
    /// A delivery is over, its events still to be ended one by one.
    pub(crate) fn job_over(&mut self, route: RouteId) {
        self.in_work -= 1;
        self.topics[route].in_work -= 1;
        self.publish_gauges();
    }

    /// The delivery of one event is over. Returns whether an outage began or ended with it.
    pub(crate) fn end(
        &mut self,
        route: RouteId,
        ticket: &Ticket,
        ended: Ended,
        (now, random): (Instant, f64),
    ) -> Option<OutageChange> {
        self.release(ticket);
        let config = &self.router.route(route).config;
        let case = Case {
            attempts: ticket.attempts,
            ordered: ticket.ordered,
            retry: config.retry,
            on_dead: config.on_dead,
            random,
        };
        let topic = &mut self.topics[route];
        let mut own = false;
        let decision = match ended {
            Ended::Done => decide(Ok(()), &case),
            Ended::Failed(mut failure) => {
                own = failure.wish == Wish::Outage && topic.is_its_own(ticket.id);
                if own {
                    failure.wish = Wish::Retry;
                }
                decide(Err(&failure), &case)
            }
            Ended::Newer => {
                topic.breaker.unanswered();
                add(&self.counters.newer, 1);
                self.park(ticket, None);
                return None;
            }
            Ended::Unreadable => {
                topic.breaker.unanswered();
                add(&self.counters.unreadable, 1);
                self.park(ticket, None);
                return None;
            }
            Ended::Gone => {
                topic.breaker.unanswered();
                topic.outages.remove(&ticket.id);
                self.end_gone(ticket, now);
                return None;
            }
        };
        match decision {
            Decision::Settle(verdict) => {
                topic.successes += u64::from(verdict == Verdict::Done);
                match verdict {
                    Verdict::Retry { .. } if own => {
                        topic.outages.insert(ticket.id, topic.successes)
                    }
                    _ => topic.outages.remove(&ticket.id),
                };
                let change = if own && topic.breaker.is_open() {
                    // It says nothing about the others, nor that the outage is over.
                    topic.breaker.outage(now, random);
                    None
                } else {
                    topic.breaker.answered().then_some(OutageChange::Over)
                };
                self.settle_later(route, ticket, verdict, now);
                change
            }
            Decision::Outage => {
                topic.outages.insert(ticket.id, topic.successes);
                let change = topic
                    .breaker
                    .outage(now, random)
                    .then_some(OutageChange::Began);
                let until = topic.breaker.retry_at().unwrap_or(now);
                add(&self.counters.outages, 1);
                self.park(ticket, Some(until));
                if change.is_some() {
                    self.set_aside(route, now);
                }
                change
            }
        }
    }

    /// A delivery could not start (its payload was not to be had): its events are read again at
    /// `at`.
    pub(crate) fn put_off_job(&mut self, job: &Job, at: Instant) {
        self.job_over(job.route);
        self.topics[job.route].breaker.unanswered();
        for item in &job.items {
            self.release(&item.ticket);
            self.park(&item.ticket, Some(at));
        }
    }

    /// Frees what an event held while it was in work.
    fn release(&mut self, ticket: &Ticket) {
        self.long_bytes -= ticket.long;
        if ticket.solo {
            self.solo_running = false;
        }
    }

    /// The event keeps its place and its lane waits.
    fn park(&mut self, ticket: &Ticket, until: Option<Instant>) {
        let Some(state) = self.shards.get_mut(&ticket.shard) else {
            return;
        };
        state.forget(ticket.position);
        self.waiting -= state.park(ticket.lane, ticket.position, until);
    }

    fn end_gone(&mut self, ticket: &Ticket, now: Instant) {
        let Some(state) = self.shards.get_mut(&ticket.shard) else {
            return;
        };
        state.settled(ticket.position, self.fetches);
        if let Some(lane) = state.lanes.get_mut(&ticket.lane) {
            lane.busy = None;
        }
        self.advance(ticket.shard, ticket.lane, now);
    }

    fn settle_later(&mut self, route: RouteId, ticket: &Ticket, verdict: Verdict, now: Instant) {
        let Some(state) = self.shards.get_mut(&ticket.shard) else {
            return;
        };
        let done = verdict == Verdict::Done;
        state.outcomes.push_back(Pending {
            owned: state.owned,
            lane: ticket.lane,
            route: Some(route),
            settlement: Settlement::new(ticket.position, ticket.id, verdict),
        });
        self.unsettled += 1;
        state.unsettled += 1;
        // After a success the lane goes on at once: outcomes are written in their order, so that
        // a crash can only repeat a suffix. A retry or dead letter must have been written first.
        if done && let Some(lane) = state.lanes.get_mut(&ticket.lane) {
            lane.busy = None;
            self.advance(ticket.shard, ticket.lane, now);
        }
    }

    pub(super) fn give_up_crashed(&mut self, shard: Shard, id: LaneId) {
        let Some(state) = self.shards.get_mut(&shard) else {
            return;
        };
        let Some(lane) = state.lanes.get_mut(&id) else {
            return;
        };
        let Some(Waiting { row, route, .. }) = lane.queue.pop_front() else {
            return;
        };
        lane.ready = false;
        lane.busy = Some(row.position);
        self.waiting -= 1;
        self.unsettled += 1;
        state.unsettled += 1;
        self.given_up = true;
        let on_dead = route.and_then(|route| self.router.route(route).config.on_dead);
        let case = Case {
            attempts: row.attempts,
            ordered: row.ordered,
            retry: RetryPolicy::never(),
            on_dead,
            random: 0.0,
        };
        let error = "delivery crashed the process".to_owned();
        let verdict = dead(DeadReason::Crashed, error, &case);
        state.outcomes.push_back(Pending {
            owned: state.owned,
            lane: id,
            route,
            settlement: Settlement::new(row.position, row.id, verdict),
        });
    }

    /// The oldest outcomes of each shard, about `most` in all; those of a shard in their order.
    pub(crate) fn take_outcomes(&mut self, most: usize) -> Vec<Pending> {
        let waiting = |state: &&mut ShardState| !state.outcomes.is_empty();
        let shards = self.shards.values_mut().filter(waiting).count();
        let share = most.div_ceil(shards.max(1));
        let mut taken = Vec::new();
        for state in self.shards.values_mut() {
            let count = state.outcomes.len().min(share);
            taken.extend(state.outcomes.drain(..count));
        }
        taken
    }

    /// How many outcomes wait for being written.
    pub(crate) fn unwritten(&self) -> usize {
        self.shards.values().map(|state| state.outcomes.len()).sum()
    }

    /// Outcomes have committed. `gone`: events whose retry or dead letter met nothing.
    pub(crate) fn committed(&mut self, batch: Vec<Pending>, gone: &[Position], now: Instant) {
        self.unsettled -= batch.len();
        for Pending {
            owned,
            lane,
            settlement,
            ..
        } in batch
        {
            let shard = owned.shard;
            let Some(state) = self.shards.get_mut(&shard) else {
                return;
            };
            state.unsettled -= 1;
            let position = settlement.position;
            let verdict = match settlement.verdict {
                Verdict::Done => {
                    add(&self.counters.delivered, 1);
                    state.settled(position, self.fetches);
                    continue;
                }
                other => (!gone.contains(&position)).then_some(other),
            };
            if let Some(lane) = state.lanes.get_mut(&lane) {
                lane.busy = None;
            }
            match verdict {
                Some(Verdict::Retry { after, .. }) => {
                    add(&self.counters.retried, 1);
                    state.forget(position);
                    self.waiting -= state.park(lane, position, Some(now + after));
                    continue;
                }
                Some(Verdict::Dead { blocks, .. }) => {
                    add(&self.counters.dead, 1);
                    state.settled(position, self.fetches);
                    if blocks {
                        self.waiting -= state.park(lane, position, None);
                        continue;
                    }
                }
                Some(Verdict::Done) | None => state.settled(position, self.fetches),
            }
            self.advance(shard, lane, now);
        }
    }

    /// An outcome of the lane cannot be written: nothing more of it starts until it is.
    pub(crate) fn hold(&mut self, shard: Shard, lane: LaneId, held: bool, now: Instant) {
        let Some(state) = self.shards.get_mut(&shard) else {
            return;
        };
        state.lanes.entry(lane).or_default().held = held;
        if !held {
            self.advance(shard, lane, now);
        }
    }
}

/// News about a topic's outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutageChange {
    Began,
    Over,
}
