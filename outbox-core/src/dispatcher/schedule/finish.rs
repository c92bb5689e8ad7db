use super::{
    Job, LaneId, OutageChange, Schedule, Ticket,
    breaker::{Heard, Reaction, Sign},
    lane::Waiting,
};
use crate::{
    dispatcher::{
        failure::Failure,
        router::RouteId,
        stats::{add, set},
        verdict::{Case, dead, failed},
    },
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
    /// It was handled, and that has committed.
    Completed,
    /// Somebody else works on it: it is tried again then.
    Busy(Instant),
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
        self.transactions -= usize::from(self.router.route(route).room().is_some());
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
        let completed = matches!(ended, Ended::Completed);
        let failure = match ended {
            Ended::Done | Ended::Completed => Ok(()),
            Ended::Failed(failure) => Err(failure),
            Ended::Newer | Ended::Unreadable | Ended::Gone | Ended::Busy(_) => {
                self.end_untold(route, ticket, &ended, now);
                return None;
            }
        };
        let sign = failure
            .as_ref()
            .map_or_else(Failure::sign, |()| Sign::Works);
        let topic = &mut self.topics[route];
        let fails = !matches!(sign, Sign::Works | Sign::Answers | Sign::Silent);
        let own = fails && topic.is_its_own(ticket.id);
        let reaction = if own {
            if ticket.probe {
                topic.breaker.failed_alone(now, random);
            }
            Reaction::default()
        } else {
            let heard = Heard {
                sign,
                probe: ticket.probe,
                lane: ticket.lane,
                attempts: ticket.attempts,
            };
            topic.breaker.heard(heard, (now, random))
        };
        if reaction.given_back || own {
            topic.outages.insert(ticket.id, topic.successes);
        } else {
            topic.outages.remove(&ticket.id);
        }
        match (reaction.given_back, failure) {
            (true, _) => self.give_back(route, ticket, now),
            (false, Ok(())) => {
                topic.successes += 1;
                if completed {
                    add(&self.counters.delivered, 1);
                    self.end_gone(ticket, now);
                } else {
                    self.settle_later(route, ticket, Verdict::Done, now);
                }
            }
            (false, Err(failure)) => {
                self.settle_later(route, ticket, failed(failure, &case), now);
            }
        }
        if reaction.change == Some(OutageChange::Began) {
            self.take_back(route, now);
            self.keep_probes(route, now);
        }
        if reaction.change.is_some() {
            let down = self.topics.iter().filter(|topic| topic.breaker.is_open());
            set(&self.counters.down, down.count());
        }
        reaction.change
    }

    /// The delivery of an event ended without an outcome.
    fn end_untold(&mut self, route: RouteId, ticket: &Ticket, ended: &Ended, now: Instant) {
        if ticket.probe {
            self.topics[route].breaker.unanswered();
        }
        match ended {
            Ended::Newer => add(&self.counters.newer, 1),
            Ended::Unreadable => add(&self.counters.unreadable, 1),
            Ended::Busy(until) => return self.park(ticket, Some(*until)),
            _ => {
                self.topics[route].outages.remove(&ticket.id);
                return self.end_gone(ticket, now);
            }
        }
        self.park(ticket, None);
    }

    /// Its topic is down: nothing is written, the event stays as it is.
    fn give_back(&mut self, route: RouteId, ticket: &Ticket, now: Instant) {
        let until = self.topics[route].breaker.retry_at().unwrap_or(now);
        add(&self.counters.outages, 1);
        self.park(ticket, Some(until));
    }

    /// Failures of a topic of which is known now that it is down, as far as nobody has begun to
    /// write them.
    fn take_back(&mut self, route: RouteId, now: Instant) {
        let topic = &mut self.topics[route];
        let until = topic.breaker.retry_at().unwrap_or(now);
        for state in self.shards.values_mut() {
            let taken = |pending: &Pending| {
                let retries = matches!(pending.settlement.verdict, Verdict::Retry { .. });
                pending.route == Some(route) && retries
            };
            let before = state.writable();
            let (taken, others): (Vec<_>, Vec<_>) = state.outcomes.drain(..).partition(taken);
            state.outcomes = others.into();
            self.writable -= before - state.writable();
            for Pending {
                lane, settlement, ..
            } in taken
            {
                self.unsettled -= 1;
                state.unsettled -= 1;
                add(&self.counters.outages, 1);
                topic.outages.insert(settlement.id, topic.successes);
                state.forget(settlement.position);
                state.park(&mut self.window, lane, settlement.position, Some(until));
            }
        }
    }

    /// A delivery could not start (its payload was not to be had): its events are read again at
    /// `at`.
    pub(crate) fn put_off_job(&mut self, job: &Job, at: Instant) {
        self.job_over(job.route);
        for item in &job.items {
            if item.ticket.probe {
                self.topics[job.route].breaker.unanswered();
            }
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
        state.park(&mut self.window, ticket.lane, ticket.position, until);
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
        if done && self.has_transactions {
            state.succeeded(ticket.lane);
        }
        state.outcomes.push_back(Pending {
            owned: state.owned,
            lane: ticket.lane,
            route: Some(route),
            settlement: Settlement::new(ticket.position, ticket.id, verdict),
        });
        self.writable += usize::from(!state.being_written);
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
        self.window.remove(lane.topic, 1);
        self.writable += usize::from(!state.being_written);
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
                continue;
            };
            state.unsettled -= 1;
            let position = settlement.position;
            let verdict = match settlement.verdict {
                Verdict::Done => {
                    add(&self.counters.delivered, 1);
                    state.settled(position, self.fetches);
                    if state.success_committed(lane) {
                        self.advance(shard, lane, now);
                    }
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
                    state.park(&mut self.window, lane, position, Some(now + after));
                    continue;
                }
                Some(Verdict::Dead { blocks, .. }) => {
                    add(&self.counters.dead, 1);
                    state.settled(position, self.fetches);
                    if blocks {
                        state.park(&mut self.window, lane, position, None);
                        continue;
                    }
                }
                Some(Verdict::Done) | None => state.settled(position, self.fetches),
            }
            self.advance(shard, lane, now);
        }
    }
}
