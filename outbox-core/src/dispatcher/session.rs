use super::{
    answer,
    around::Around,
    config::Config,
    desk::Desk,
    lease::{Lease, LeaseWatch},
    ownership::Ownership,
    pace::Pace,
    patience::Patience,
    pruner::Pruner,
    pulse::Pulse,
    reader::Reader,
    router::Router,
    schedule::Schedule,
    settler::{Ended, Settler, Stuck},
    settling::Phase,
    sleep::Sleep,
    stats::{Counters, add},
    stop::Stop,
    witness::Witnesses,
    worker::Worker,
};
use crate::{
    handler::State,
    store::{Ear, Member, MemberId, Store, StoreError},
    text::storable,
};
use futures_util::FutureExt;
use std::{future::Future, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    task::{AbortHandle, JoinHandle, JoinSet},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{debug, error, warn};

/// What outlives a session.
pub(crate) struct Setting<S> {
    pub(crate) store: S,
    pub(crate) config: Arc<Config>,
    pub(crate) router: Arc<Router>,
    pub(crate) state: State,
    pub(crate) counters: Arc<Counters>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) witness: Witnesses,
}

impl<S: Store> Clone for Setting<S> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            config: Arc::clone(&self.config),
            router: Arc::clone(&self.router),
            state: self.state.clone(),
            counters: Arc::clone(&self.counters),
            pulse: Arc::clone(&self.pulse),
            witness: self.witness.clone(),
        }
    }
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Stopped,
    /// Everything in memory is void; the caller starts a new session.
    LeaseLost,
    /// Nothing is left to do; the next parked or delayed event falls due then.
    Idle(Option<Instant>),
}

/// How long the row may take to go when there is no time left.
const LEAVE: Duration = Duration::from_millis(200);

/// One membership: from joining to leaving.
pub(crate) async fn run<S: Store>(
    setting: &Setting<S>,
    stop: &Stop,
    until_idle: bool,
) -> Result<End, StoreError> {
    let Setting { store, config, .. } = setting;
    let member = Member::new(place(), handles(&setting.router));
    let joining = tokio::select! {
        joining = join(store, &member, config) => joining,
        () = stop.graceful.cancelled() => return Ok(End::Stopped),
    };
    let (in_process, joined_at) = joining?;
    let joined = (member.id, joined_at);
    let lease = Lease::start(
        store,
        in_process,
        joined,
        config,
        Arc::clone(&setting.pulse),
    );
    let schedule = Schedule::new(
        Arc::clone(&setting.router),
        Arc::clone(config),
        Arc::clone(&setting.counters),
    );
    let desk = Arc::new(Desk::new(schedule));
    let lost = CancellationToken::new();
    let around = Around::new(
        setting.state.clone(),
        (member.id, in_process),
        config,
        lease.watch(),
        setting.witness.clone(),
    );
    let (workers, abort_handles) = start_workers(setting, &desk, &around, &lost);
    let (phase, phases) = watch::channel(Phase::Working);
    let settler = start_settler(setting, &desk, member.id, phases, lost.clone());
    let pruner = pruner(setting, &desk, stop);
    let stop_pruning = pruner.stop.clone().drop_guard();
    let pruning = (!until_idle).then(|| tokio::spawn(pruner.clone().run()));
    let guard = start_guard(&lease, &desk, abort_handles, stop, lost.clone());
    let watch = lease.watch();
    let session = (member.id, watch, Arc::clone(&desk), lost.clone());
    let mut reading = Box::pin(read(setting.clone(), session, stop.clone(), until_idle));
    let read = tokio::select! {
        due_at = &mut reading => Some(due_at),
        () = stop.graceful.cancelled() => None,
        () = lost.cancelled() => None,
    };
    // It may be waiting for a database that is locked. A call of the database is not dropped
    // midway, and holds up no stop.
    let reading = read.is_none().then(|| tokio::spawn(reading));
    let next_due = [desk.schedule().next_due(Instant::now()), read.flatten()]
        .into_iter()
        .flatten()
        .min();

    let end = if lost.is_cancelled() {
        add(&setting.counters.lease_lost, 1);
        warn!("lease lost: everything in work was dropped and will be delivered again");
        End::LeaseLost
    } else if stop.graceful.is_cancelled() {
        End::Stopped
    } else {
        End::Idle(next_due)
    };
    if matches!(end, End::Idle(_)) {
        beating(&setting.pulse, pruner.run_once()).await;
    }
    drop(stop_pruning);
    let patience = Patience::new(stop, &lost, config.grace);
    let finish = async {
        finish_work(config, &desk, workers, &patience).await;
        flush(&phase, settler, &patience).await;
        if let Some(reading) = reading {
            patience.bounds(reading).await;
        }
    };
    beating(&setting.pulse, finish).await;
    guard.abort();
    if let Some(pruning) = pruning {
        // Its last statement ends by itself.
        patience.bounds(pruning).await;
    }
    leave(store.clone(), member.id, config.lease, &patience).await;
    Ok(end)
}

/// Writes the member's row; returns whether the database is in this process, and from when the lease
/// counts.
async fn join<S: Store>(
    store: &S,
    member: &Member,
    config: &Config,
) -> Result<(bool, Instant), StoreError> {
    let (limit, asked) = (config.answer_limit(), store.clone());
    let context = "looking where the database is";
    let in_process = answer::within(limit, context, async move { asked.in_process().await });
    let in_process = in_process.await?;
    let joined_at = Instant::now();
    answer::join(store, member, (config.lease, limit)).await?;
    Ok((in_process, joined_at))
}

/// Reads until the end of the session; returns when the next delayed event falls due.
async fn read<S: Store>(
    setting: Setting<S>,
    (member, lease, desk, lost): (MemberId, LeaseWatch, Arc<Desk>, CancellationToken),
    stop: Stop,
    until_idle: bool,
) -> Option<Instant> {
    let Setting { store, config, .. } = &setting;
    let ear = Ear::new();
    // Who runs until there is nothing left to do never sleeps.
    let _listening = (!until_idle).then(|| start_listening(store, &ear));
    let mut reader = Reader {
        desk: &desk,
        store,
        config,
        member,
        ownership: Ownership::new(&desk, (store, config), member, &lease, &lost),
        pulse: &setting.pulse,
        lost: &lost,
        pace: Pace::new(config.poll),
        ear: &ear,
        sleep: Sleep::default(),
        due_at: None,
    };
    reader.run(&stop.graceful, until_idle).await;
    reader.due_at
}

/// Shows that the loop is alive while it waits for handlers: a grace period may be longer than the
/// stall limit.
async fn beating(pulse: &Pulse, work: impl Future<Output = ()>) {
    let mut work = pin!(work);
    while timeout(Duration::from_secs(1), &mut work).await.is_err() {
        pulse.beat();
    }
}

/// Deletes the member's row, or what it owned would lie until its lease runs out. Where the
/// database does not answer in time, it goes on trying behind the back of whatever comes next.
async fn leave<S: Store>(store: S, member: MemberId, lease: Duration, patience: &Patience<'_>) {
    let leaving = async move {
        let deadline = Instant::now() + lease;
        while let Err(error) = store.leave(member).await {
            debug!(error = &error as &dyn std::error::Error, "cannot leave");
            if Instant::now() > deadline {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    // In a task of its own: a database call is not dropped midway.
    let leaving = tokio::spawn(leaving);
    tokio::select! {
        _ = leaving => {}
        () = async { patience.spent().await; sleep(LEAVE).await } => {}
    }
}

fn start_workers<S: Store>(
    setting: &Setting<S>,
    desk: &Arc<Desk>,
    around: &Around,
    lost: &CancellationToken,
) -> (JoinSet<()>, Vec<AbortHandle>) {
    let mut workers = JoinSet::new();
    let mut handles = Vec::new();
    for _ in 0..setting.config.concurrency {
        let worker = Worker {
            desk: Arc::clone(desk),
            store: setting.store.clone(),
            router: Arc::clone(&setting.router),
            config: Arc::clone(&setting.config),
            around: around.clone(),
            lease: around.lease.clone(),
            lost: lost.clone(),
        };
        let lost = lost.clone();
        handles.push(workers.spawn(async move {
            // Nobody would miss one: its events would stand in work for ever.
            let ended = AssertUnwindSafe(worker.run()).catch_unwind().await;
            if ended.is_err() {
                error!("a worker panicked: the dispatcher starts anew");
                lost.cancel();
            }
        }));
    }
    (workers, handles)
}

fn pruner<S: Store>(setting: &Setting<S>, desk: &Arc<Desk>, stop: &Stop) -> Pruner<S> {
    Pruner {
        store: setting.store.clone(),
        desk: Arc::clone(desk),
        retention: setting.config.retention.clone(),
        stop: stop.graceful.child_token(),
    }
}

fn start_settler<S: Store>(
    setting: &Setting<S>,
    desk: &Arc<Desk>,
    member: MemberId,
    phase: watch::Receiver<Phase>,
    lost: CancellationToken,
) -> JoinHandle<()> {
    let settler = Settler {
        desk: Arc::clone(desk),
        store: setting.store.clone(),
        config: Arc::clone(&setting.config),
        router: Arc::clone(&setting.router),
        member,
        phase,
        lost: lost.clone(),
        stuck: Stuck::default(),
        under_way: JoinSet::new(),
    };
    tokio::spawn(async move {
        // Should the store panic, the session ends: nothing would be written any more.
        let lost = lost.drop_guard();
        if !matches!(settler.run().await, Err(Ended::Lost)) {
            lost.disarm();
        }
    })
}

/// Drops all handlers the moment the lease is lost, or at a hard stop, whatever the reader is
/// waiting for: it may be a connection that a handler holds. From a graceful stop on nothing more
/// is started.
fn start_guard(
    lease: &Lease,
    desk: &Arc<Desk>,
    workers: Vec<AbortHandle>,
    stop: &Stop,
    lost: CancellationToken,
) -> JoinHandle<()> {
    let watch = lease.watch();
    let (desk, stop) = (Arc::clone(desk), stop.clone());
    tokio::spawn(async move {
        let stop_starting = async {
            stop.graceful.cancelled().await;
            desk.schedule().stop();
            stop.hard.cancelled().await;
        };
        tokio::select! {
            () = watch.lost() => lost.cancel(),
            () = lost.cancelled() => {}
            () = stop_starting => {}
        }
        desk.schedule().stop();
        for worker in workers {
            worker.abort();
        }
    })
}

/// Listens to what other processes commit until the guard is dropped.
fn start_listening<S: Store>(store: &S, ear: &Ear) -> DropGuard {
    let stop = CancellationToken::new();
    let guard = stop.clone().drop_guard();
    let (store, ear) = (store.clone(), ear.clone());
    tokio::spawn(async move { store.listen(&ear, &stop).await });
    guard
}

/// Lets running handlers finish, within the grace period.
async fn finish_work(
    config: &Config,
    desk: &Desk,
    mut workers: JoinSet<()>,
    patience: &Patience<'_>,
) {
    desk.schedule().stop();
    let finished = async {
        loop {
            let over = desk.reading.notified();
            if desk.schedule().in_work() == 0 {
                return;
            }
            over.await;
        }
    };
    tokio::select! {
        biased;
        () = finished => {}
        () = patience.over() => warn!(grace = ?config.grace, "handlers still run: they are dropped"),
    }
    workers.abort_all();
    // A handler that blocks its thread cannot be dropped: it is left behind.
    let gone = async { while workers.join_next().await.is_some() {} };
    let _ = timeout(LEAVE, gone).await;
    workers.detach_all();
}

/// Writes the outcomes that there are.
async fn flush(phase: &watch::Sender<Phase>, mut settler: JoinHandle<()>, patience: &Patience<'_>) {
    let _ = phase.send(Phase::Flushing);
    tokio::select! {
        _ = &mut settler => return,
        () = patience.over() => {}
    }
    let _ = phase.send(Phase::Leaving);
    patience.bounds(settler).await;
}

fn place() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}:{}", host.trim(), std::process::id())
}

fn handles(router: &Router) -> String {
    let names: Vec<_> = router.routes().iter().map(|route| &*route.name).collect();
    storable(&names.join(", "), 1_000)
}
