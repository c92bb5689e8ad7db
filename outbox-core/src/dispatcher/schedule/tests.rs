//! A model of a store and of everything around the schedule, driven at random: transactions that
//! commit late, fetches that come back after a settle, retries, dead letters, outages, operators.

use super::{cases::Never, *};
use crate::{
    dispatcher::{failure::Failure, route::Route},
    handler::Wish,
    retry::RetryPolicy,
    store::{Body, Fetched, Horizon, Owned, Position, Row, Seen, Verdict},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use uuid::Uuid;

const SHARD: Shard = 0;
const AGGREGATES: u64 = 6;

/// The store and its history.
struct Model {
    random: fastrand::Rng,
    schedule: Schedule,
    now: Instant,
    horizon: Horizon,
    next_position: Position,
    /// Committed and not settled.
    visible: BTreeMap<Position, Row>,
    /// Written, not committed yet, with the ids of their transactions.
    open: BTreeMap<Position, (u64, Row)>,
    next_id: u64,
    dead: BTreeMap<Position, Row>,
    revision: i64,
    in_flight: Option<Fetched>,
    running: Vec<(RouteId, Ticket, String)>,
    unwritten: Vec<Pending>,
    /// By aggregate: what has started and not ended.
    working: BTreeMap<String, Position>,
    /// By aggregate: the positions that must come first.
    owed: BTreeMap<String, BTreeSet<Position>>,
    blocked: BTreeSet<String>,
    settled: usize,
    emitted: usize,
}

impl Model {
    fn new(seed: u64, horizon: Horizon) -> Self {
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
            let route = Route::handler(name.to_owned(), topic, None, Box::new(Never));
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
        }
    }

    fn step(&mut self, emitting: bool) {
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
    }

    /// A transaction writes an event; one of the same aggregate must have committed before.
    fn emit(&mut self) {
        let key = self.random.u64(0..AGGREGATES).to_string();
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
            topic: if self.random.bool() { "a" } else { "b" }.to_owned(),
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

    fn commit(&mut self) {
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

    fn fetch(&mut self) {
        if self.in_flight.is_some() {
            return;
        }
        self.schedule.rewind(self.now);
        let (cursors, limit) = self.schedule.send_fetch();
        let cursor = cursors[0];
        let known = self
            .visible
            .range(cursor.floor + 1..cursor.scan + 1)
            .map(|(_, row)| row);
        let beyond = self
            .visible
            .range(cursor.scan + 1..)
            .map(|(_, row)| row)
            .take(limit);
        let rows = known.chain(beyond).cloned().collect();
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
        self.in_flight = Some(Fetched::new(vec![seen], rows, horizon));
    }

    fn fetched(&mut self) {
        let Some(mut fetched) = self.in_flight.take() else {
            return;
        };
        if self.schedule.reset_changed(&fetched.shards).is_empty() {
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

    fn start(&mut self) {
        let Some(job) = self.schedule.next(self.now) else {
            return;
        };
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

    fn end(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let chosen = self.random.usize(0..self.running.len());
        let (route, ticket, key) = self.running.swap_remove(chosen);
        self.working.remove(&key);
        let failed = |wish| {
            Ended::Failed(Failure {
                wish,
                text: "no".to_owned(),
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
    fn settle(&mut self) {
        let batch = std::mem::take(&mut self.unwritten);
        if batch.is_empty() {
            self.unwritten = self.schedule.take_outcomes(3);
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
                Verdict::Retry { after, .. } => {
                    row.attempts += 1;
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
    }

    fn pass(&mut self) {
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
    fn operate(&mut self) {
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

    /// Whether everything that was emitted is settled.
    fn is_done(&self) -> bool {
        self.settled == self.emitted && self.visible.is_empty() && self.dead.is_empty()
    }
}

fn run(seed: u64, horizon: Horizon) {
    let mut model = Model::new(seed, horizon);
    for _ in 0..1_500 {
        model.step(true);
    }
    let mut steps = 0;
    while !model.is_done() {
        model.step(false);
        steps += 1;
        assert!(
            steps < 200_000,
            "seed {seed}: {} events never settle",
            model.emitted - model.settled
        );
    }
    for _ in 0..50 {
        model.settle();
        model.fetch();
        model.fetched();
        model.pass();
    }
    assert!(model.schedule.is_idle(model.now), "seed {seed}");
    let state = &model.schedule.shards[&SHARD];
    assert!(
        state.lanes.is_empty() && state.parked.is_empty(),
        "seed {seed}: lanes are left"
    );
    assert_eq!(
        state.known_positions(),
        0,
        "seed {seed}: positions are never forgotten"
    );
    assert_eq!(
        (model.schedule.waiting, model.schedule.in_work),
        (0, 0),
        "seed {seed}"
    );
}

#[test]
fn nothing_is_lost_or_reordered_when_positions_commit_in_order() {
    for seed in 0..150 {
        run(seed, Horizon::CommitOrder);
    }
}

#[test]
fn nothing_is_lost_or_reordered_when_transaction_ids_prove_the_floor() {
    for seed in 0..150 {
        run(seed, Horizon::Transactions { next: 0, oldest: 0 });
    }
}

#[test]
fn nothing_is_lost_or_reordered_when_transactions_commit_late() {
    for seed in 0..150 {
        run(seed, Horizon::Open);
    }
}
