//! A model of a store and of everything around the schedule, driven at random: transactions that
//! commit late, fetches that come back after a settle, retries, dead letters, outages, operators.

use super::{cases::Never, *};
use crate::{
    dispatcher::{
        failure::{Failure, Origin},
        route::{Route, Target},
    },
    handler::Wish,
    retry::RetryPolicy,
    store::{Body, Fetched, Horizon, Owned, Position, Row, Seen, Verdict},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use uuid::Uuid;

pub(super) const SHARD: Shard = 0;
const AGGREGATES: u64 = 6;

/// The store and its history.
pub(super) struct Model {
    pub(super) random: fastrand::Rng,
    pub(super) schedule: Schedule,
    pub(super) now: Instant,
    pub(super) horizon: Horizon,
    pub(super) next_position: Position,
    /// Committed and not settled.
    pub(super) visible: BTreeMap<Position, Row>,
    /// Written, not committed yet, with the ids of their transactions.
    pub(super) open: BTreeMap<Position, (u64, Row)>,
    pub(super) next_id: u64,
    pub(super) dead: BTreeMap<Position, Row>,
    pub(super) revision: i64,
    pub(super) in_flight: Option<Fetched>,
    pub(super) running: Vec<(RouteId, Ticket, String)>,
    pub(super) unwritten: Vec<Pending>,
    /// By aggregate: what has started and not ended.
    pub(super) working: BTreeMap<String, Position>,
    /// By aggregate: the positions that must come first.
    pub(super) owed: BTreeMap<String, BTreeSet<Position>>,
    pub(super) blocked: BTreeSet<String>,
    pub(super) settled: usize,
    pub(super) emitted: usize,
    /// Deliveries of the first topic do not end; no aggregate has events of both then.
    pub(super) hanging: bool,
}

impl Model {
    pub(super) fn new(seed: u64, horizon: Horizon) -> Self {
        let mut router = Router::new();
        let config = Config {
            window: 12,
            batch: 5,
            concurrency: 4,
            ..Config::default()
        };
        let topic = crate::dispatcher::config::TopicConfig {
            retry: RetryPolicy::quick().retries(2),
            ..config.topic
        };
        for name in ["a", "b"] {
            let route = Route::new(
                name.to_owned(),
                topic,
                None,
                Target::Handler(Box::new(Never)),
            );
            assert!(router.topic(name, route));
        }
        let mut schedule = Schedule::new(Arc::new(router), Arc::new(config), Arc::default());
        schedule.own(Owned::new(SHARD, 1, 0));
        Self {
            random: fastrand::Rng::with_seed(seed),
            schedule,
            now: Instant::now(),
            horizon,
            next_position: 1,
            visible: BTreeMap::new(),
            open: BTreeMap::new(),
            next_id: 3,
            dead: BTreeMap::new(),
            revision: 0,
            in_flight: None,
            running: Vec::new(),
            unwritten: Vec::new(),
            working: BTreeMap::new(),
            owed: BTreeMap::new(),
            blocked: BTreeSet::new(),
            settled: 0,
            emitted: 0,
            hanging: false,
        }
    }

    pub(super) fn step(&mut self, emitting: bool) {
        match self.random.u8(0..12) {
            0 | 1 if emitting => self.emit(),
            2 => self.commit(),
            3 | 4 => self.fetch(),
            5 => self.fetched(),
            6 | 7 => self.start(),
            8 => self.end(),
            9 => self.settle(),
            10 => self.pass(),
            11 => self.operate(),
            _ => {}
        }
        self.check();
    }

    /// What is counted is what there is.
    pub(super) fn check(&self) {
        let mut waiting = vec![0; self.schedule.topics.len()];
        let lanes = self
            .schedule
            .shards
            .values()
            .flat_map(|state| state.lanes.values());
        for lane in lanes {
            if let Some(topic) = lane.topic {
                waiting[topic] += lane.queue.len();
            }
        }
        let counted: Vec<_> = (0..waiting.len())
            .map(|topic| self.schedule.window.of(topic))
            .collect();
        assert_eq!(counted, waiting);
        assert_eq!(self.schedule.waiting(), waiting.iter().sum::<usize>());
        let outcomes = self.schedule.unwritten() + self.unwritten.len();
        assert_eq!(self.schedule.unsettled, outcomes);
    }

    /// A transaction writes an event; one of the same aggregate must have committed before.
    pub(super) fn emit(&mut self) {
        let aggregate = self.random.u64(0..AGGREGATES);
        let first = if self.hanging {
            aggregate.is_multiple_of(2)
        } else {
            self.random.bool()
        };
        let key = aggregate.to_string();
        if self
            .open
            .values()
            .any(|(_, row)| row.key.as_ref() == Some(&key))
        {
            return;
        }
        let position = self.next_position;
        self.next_position += 1;
        self.emitted += 1;
        let row = Row {
            aggregate: "order".to_owned(),
            key: Some(key),
            topic: if first { "a" } else { "b" }.to_owned(),
            body: Some(Body::new(
                "{}".to_owned(),
                "{}".to_owned(),
                chrono::DateTime::UNIX_EPOCH,
            )),
            ..Row::new(
                SHARD,
                position,
                Uuid::from_u128(position.unsigned_abs().into()),
            )
        };
        // Other transactions take ids too.
        self.next_id += self.random.u64(0..2);
        self.open.insert(position, (self.next_id, row));
        self.next_id += 1;
        if self.horizon == Horizon::CommitOrder {
            self.commit();
        }
    }

    pub(super) fn commit(&mut self) {
        let positions: Vec<_> = self.open.keys().copied().collect();
        let Some(position) = self.random.choice(positions) else {
            return;
        };
        let (_, row) = self.open.remove(&position).unwrap();
        self.owed
            .entry(row.key.clone().unwrap())
            .or_default()
            .insert(position);
        self.visible.insert(position, row);
    }

    pub(super) fn fetch(&mut self) {
        if self.in_flight.is_some() {
            return;
        }
        self.schedule.share_out(self.now);
        self.schedule.rewind(self.now);
        let Some(cursor) = self.schedule.send_fetch().first().copied() else {
            return;
        };
        let again = self.visible.range(cursor.floor + 1..cursor.scan + 1);
        let again = again.map(|(position, _)| (SHARD, *position)).collect();
        let beyond = self.visible.range(cursor.scan + 1..);
        let rows = beyond.map(|(_, row)| row).take(cursor.limit);
        let rows = rows.cloned().collect();
        let seen = Seen::new(SHARD, self.revision, None);
        let horizon = match self.horizon {
            Horizon::Transactions { .. } => Horizon::Transactions {
                next: self.next_id,
                oldest: self
                    .open
                    .values()
                    .map(|(id, _)| *id)
                    .min()
                    .unwrap_or(self.next_id),
            },
            other => other,
        };
        self.in_flight = Some(Fetched::new(vec![seen], again, rows, horizon));
    }

    pub(super) fn fetched(&mut self) {
        let Some(mut fetched) = self.in_flight.take() else {
            return;
        };
        if self.schedule.reset_changed(&fetched.shards).is_empty() {
            let Late::Read(late) = self.schedule.late(&fetched) else {
                return;
            };
            // They are read now, when more may have happened.
            let late = late.iter().filter_map(|at| self.visible.get(at).cloned());
            fetched.rows.extend(late);
            fetched.rows.sort_by_key(|row| row.position);
            // A retry's time is told relative to the fetch.
            for row in &mut fetched.rows {
                row.retry_in = row.retry_in.filter(|_| row.attempts > 0);
            }
            self.schedule.admit(fetched, self.now);
        } else {
            let blocked = self
                .dead
                .values()
                .filter(|row| self.blocked.contains(row.key.as_ref().unwrap()));
            let blocked = blocked.map(|row| {
                Blocked::new(SHARD, row.position, row.aggregate.clone(), row.key.clone())
            });
            let blocked = blocked.collect();
            self.schedule.block(blocked);
        }
    }

    pub(super) fn start(&mut self) {
        let running = |model: &Self, route| {
            let of_route = model.running.iter().filter(|(of, ..)| *of == route);
            of_route.count()
        };
        let Some(job) = self.schedule.next(self.now) else {
            return;
        };
        let other = 1 - job.route;
        let could = self.schedule.topics[other].is_startable(self.now);
        assert!(
            !could || running(self, job.route) <= running(self, other),
            "a free slot goes to the topic with the fewest"
        );
        for Item { ticket, row } in job.items {
            let key = row.key.unwrap();
            assert_eq!(
                self.working.insert(key.clone(), row.position),
                None,
                "two at once of {key}"
            );
            assert!(!self.blocked.contains(&key), "{key} is blocked");
            let first = self.owed[&key].first().copied();
            assert_eq!(
                first,
                Some(row.position),
                "{key}: something before is not settled"
            );
            self.running.push((job.route, ticket, key));
        }
    }

    pub(super) fn end(&mut self) {
        let may_end = |(route, ..): &(RouteId, Ticket, String)| *route > 0 || !self.hanging;
        let running = self.running.iter().enumerate();
        let ending: Vec<_> = running
            .filter(|(_, delivery)| may_end(delivery))
            .map(|(index, _)| index)
            .collect();
        let Some(chosen) = self.random.choice(ending) else {
            return;
        };
        let (route, ticket, key) = self.running.swap_remove(chosen);
        self.working.remove(&key);
        let failed = |wish| {
            Ended::Failed(Failure {
                wish,
                text: "no".to_owned(),
                origin: Origin::Handler,
            })
        };
        let ended = match self.random.u8(0..10) {
            0 | 1 => failed(Wish::Retry),
            2 => failed(Wish::Dead),
            3 => failed(Wish::Outage),
            _ => Ended::Done,
        };
        if matches!(ended, Ended::Done) {
            // Handled: what comes next may start, although nothing is written yet.
            self.owed.get_mut(&key).unwrap().remove(&ticket.position);
        }
        self.schedule.job_over(route);
        self.schedule.end(route, &ticket, ended, (self.now, 0.0));
    }

    /// Takes a batch, or writes the one that was taken.
    pub(super) fn settle(&mut self) {
        let batch = std::mem::take(&mut self.unwritten);
        if batch.is_empty() {
            self.unwritten = self.schedule.take_outcomes(1, 3);
            return;
        }
        let mut gone = Vec::new();
        for Pending { settlement, .. } in &batch {
            let position = settlement.position;
            let Some(mut row) = self.visible.remove(&position) else {
                gone.push(position);
                continue;
            };
            let key = row.key.clone().unwrap();
            match &settlement.verdict {
                Verdict::Done => self.settled += 1,
                Verdict::Retry {
                    attempts, after, ..
                } => {
                    row.attempts = *attempts;
                    row.retry_in = Some(*after);
                    self.visible.insert(position, row);
                }
                Verdict::Dead { blocks, .. } => {
                    assert!(*blocks);
                    row.attempts += 1;
                    self.blocked.insert(key);
                    self.dead.insert(position, row);
                }
            }
        }
        self.schedule.committed(batch, &gone, self.now);
        self.schedule.end_writing(&[SHARD]);
    }

    pub(super) fn pass(&mut self) {
        let passed = Duration::from_millis(self.random.u64(0..3_000));
        self.now += passed;
        for row in self.visible.values_mut() {
            row.retry_in = row.retry_in.map(|wait| wait.saturating_sub(passed));
        }
        let heads = self.schedule.due_heads(self.now);
        let rows = heads
            .iter()
            .filter_map(|head| self.visible.get(&head.position).cloned());
        let rows = rows.collect();
        self.schedule.revive(&heads, rows, self.now);
    }

    /// An operator brings back a dead letter or skips it.
    pub(super) fn operate(&mut self) {
        let Some(position) = self.dead.keys().next().copied() else {
            return;
        };
        if self.random.u8(0..4) > 0 {
            return;
        }
        let mut row = self.dead.remove(&position).unwrap();
        let key = row.key.clone().unwrap();
        self.blocked.remove(&key);
        self.revision += 1;
        if self.random.bool() {
            (row.attempts, row.retry_in) = (0, None);
            self.visible.insert(position, row);
        } else {
            self.owed.get_mut(&key).unwrap().remove(&position);
            self.settled += 1;
        }
    }

    /// Whether nothing of the second topic is left, while the first hangs.
    pub(super) fn is_second_done(&self) -> bool {
        let mut rows = self.visible.values().chain(self.dead.values());
        rows.all(|row| row.topic == "a") && self.open.is_empty()
    }

    /// Whether everything that was emitted is settled.
    pub(super) fn is_done(&self) -> bool {
        self.settled == self.emitted && self.visible.is_empty() && self.dead.is_empty()
    }
}
