use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// What a dispatcher has done since it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Deliveries that succeeded and were written as such.
    pub delivered: u64,
    /// Deliveries that failed and will be tried again.
    pub retried: u64,
    /// Events that became dead letters.
    pub dead: u64,
    /// Deliveries that failed in an outage, reported or seen: they count no attempt.
    pub outages: u64,
    /// Events seen of topics that nobody here handles; they stay in the outbox.
    pub unknown: u64,
    /// Events seen of a newer schema version than this build knows; they stay in the outbox.
    pub newer: u64,
    /// Rows seen that are no events; they stay in the outbox.
    pub unreadable: u64,
    /// How often this dispatcher lost its lease.
    pub lease_lost: u64,
    /// How many deliveries are under way.
    pub in_work: u64,
    /// How many events wait in memory to be handled. It is no backlog: events of a paused topic, and
    /// those that were not read yet, are only in the database. For these ask
    /// [`Operator::counts`](crate::Operator::counts) and [`Operator::oldest`](crate::Operator::oldest).
    pub waiting: u64,
    /// How many topics stand still for an outage, but for single events that see whether it is over.
    pub down: u64,
    /// How many shards this dispatcher owns.
    pub shards: u64,
}

/// What one [`run_until_idle`](crate::Dispatcher::run_until_idle) did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Deliveries that succeeded.
    pub delivered: u64,
    /// Deliveries that failed and will be tried again.
    pub retried: u64,
    /// Events that became dead letters.
    pub dead: u64,
    /// Events seen that nobody here can handle: of an unknown topic, or of a newer version. They
    /// stay in the outbox.
    pub unhandled: u64,
    /// Whether nothing was left that could be delivered at once; false when the deadline came first.
    /// What has failed may wait for its retry still: see [`next_due`](Self::next_due).
    pub idle: bool,
    /// Whether other dispatchers owned everything to the end, or the leases of some that died
    /// still ran: nothing could be done here.
    pub standing_by: bool,
    /// How long until the next retry or delayed event falls due.
    pub next_due: Option<Duration>,
}

impl Summary {
    pub(crate) fn new(before: Stats, after: Stats, idle: bool, next_due: Option<Duration>) -> Self {
        Self {
            delivered: after.delivered - before.delivered,
            retried: after.retried - before.retried,
            dead: after.dead - before.dead,
            unhandled: (after.unknown - before.unknown) + (after.newer - before.newer),
            idle,
            standing_by: !idle && after.shards == 0,
            next_due,
        }
    }
}

/// The counters behind [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) delivered: AtomicU64,
    pub(crate) retried: AtomicU64,
    pub(crate) dead: AtomicU64,
    pub(crate) outages: AtomicU64,
    pub(crate) unknown: AtomicU64,
    pub(crate) newer: AtomicU64,
    pub(crate) unreadable: AtomicU64,
    pub(crate) lease_lost: AtomicU64,
    pub(crate) in_work: AtomicU64,
    pub(crate) waiting: AtomicU64,
    pub(crate) down: AtomicU64,
    pub(crate) shards: AtomicU64,
}

impl Counters {
    pub(crate) fn read(&self) -> Stats {
        Stats {
            delivered: self.delivered.load(Relaxed),
            retried: self.retried.load(Relaxed),
            dead: self.dead.load(Relaxed),
            outages: self.outages.load(Relaxed),
            unknown: self.unknown.load(Relaxed),
            newer: self.newer.load(Relaxed),
            unreadable: self.unreadable.load(Relaxed),
            lease_lost: self.lease_lost.load(Relaxed),
            in_work: self.in_work.load(Relaxed),
            waiting: self.waiting.load(Relaxed),
            down: self.down.load(Relaxed),
            shards: self.shards.load(Relaxed),
        }
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Relaxed);
}

/// Sets a gauge.
pub(crate) fn set(gauge: &AtomicU64, value: usize) {
    gauge.store(value as u64, Relaxed);
}
