use super::{config::Config, health::Health, pulse::Pulse};
use crate::store::{MemberId, Store, StoreErrorKind};
use std::{sync::Arc, thread, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{error, warn};

/// The lease of one session, kept by a heartbeat until this is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    state: watch::Receiver<LeaseState>,
    /// Ends the heartbeat.
    _heartbeat: DropGuard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaseState {
    /// Ours until then, counted from when the last renewal was sent; `None` while a database in
    /// this process has not answered: nobody but it can take the lease away.
    Held {
        renewed_at: Instant,
        until: Option<Instant>,
    },
    Lost,
}

impl Lease {
    /// Starts the heartbeat of a member that has joined at `joined_at`.
    ///
    /// It has a thread and a connection of its own, so that neither handlers that block the
    /// runtime nor a pool without a free connection let the lease run out. Where the database
    /// lives in this process, a task is enough.
    pub(crate) fn start<S: Store>(
        store: &S,
        in_process: bool,
        (member, joined_at): (MemberId, Instant),
        config: &Config,
        pulse: Arc<Pulse>,
    ) -> Self {
        let stop = CancellationToken::new();
        let (sender, state) = watch::channel(held(joined_at, config.lease));
        let heartbeat = Heartbeat {
            member,
            joined_at,
            lease: config.lease,
            stall_limit: config.stall_limit,
            in_process,
            pulse,
            state: sender,
            stop: stop.clone(),
        };
        let store = store.clone();
        if in_process {
            tokio::spawn(async move { heartbeat.run(&store).await });
        } else {
            let thread = thread::Builder::new().name("outbox-heartbeat".to_owned());
            let spawned = thread.spawn(move || heartbeat.run_apart(&store));
            if let Err(error) = spawned {
                // The lease runs out by itself: no thread, no deliveries.
                error!(
                    error = &error as &dyn std::error::Error,
                    "cannot start the heartbeat"
                );
            }
        }
        Self {
            state,
            _heartbeat: stop.drop_guard(),
        }
    }

    /// A view that waits until the lease is lost.
    pub(crate) fn watch(&self) -> LeaseWatch {
        LeaseWatch(self.state.clone())
    }
}

/// Waits for the end of a lease.
#[derive(Clone)]
pub(crate) struct LeaseWatch(watch::Receiver<LeaseState>);

impl LeaseWatch {
    /// When the last renewal was sent that succeeded.
    pub(crate) fn renewed_at(&self) -> Option<Instant> {
        match *self.0.borrow() {
            LeaseState::Held { renewed_at, .. } => Some(renewed_at),
            LeaseState::Lost => None,
        }
    }

    /// Whether the lease is held now.
    pub(crate) fn is_held(&self) -> bool {
        match *self.0.borrow() {
            LeaseState::Held { until, .. } => until.is_none_or(|until| Instant::now() < until),
            LeaseState::Lost => false,
        }
    }

    /// Returns at once while the lease is held; waits once it is over. It may still be renewed
    /// late, as long as nobody has taken it away.
    pub(crate) async fn held(&mut self) {
        loop {
            let state = *self.0.borrow_and_update();
            match state {
                LeaseState::Held { until, .. }
                    if until.is_none_or(|until| Instant::now() < until) =>
                {
                    return;
                }
                _ if self.0.changed().await.is_ok() => {}
                _ => std::future::pending().await,
            }
        }
    }

    /// Whether the last renewal that succeeded was sent no longer ago than this.
    pub(crate) fn is_renewed_within(&self, age: Duration) -> bool {
        let renewed_at = self.renewed_at();
        renewed_at.is_some_and(|at| at.elapsed() <= age)
    }

    /// Waits until that is so.
    pub(crate) async fn renewed_within(mut self, age: Duration) {
        loop {
            self.0.mark_unchanged();
            if self.is_renewed_within(age) {
                return;
            }
            if self.0.changed().await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Returns when the lease has been taken away, or was not renewed in time.
    pub(crate) async fn lost(mut self) {
        loop {
            let LeaseState::Held { until, .. } = *self.0.borrow_and_update() else {
                return;
            };
            let end = until.unwrap_or_else(Instant::now);
            tokio::select! {
                changed = self.0.changed() => {
                    if changed.is_err() {
                        // The heartbeat has ended: nothing renews any more.
                        return sleep_until(end).await;
                    }
                }
                () = sleep_until(end), if until.is_some() => return,
            }
        }
    }
}

struct Heartbeat {
    member: MemberId,
    joined_at: Instant,
    lease: Duration,
    stall_limit: Duration,
    in_process: bool,
    pulse: Arc<Pulse>,
    state: watch::Sender<LeaseState>,
    stop: CancellationToken,
}

/// How long a call of the heartbeat may go on when the session is over.
const LAST_CALL: Duration = Duration::from_secs(1);

/// Before a renewal is tried again where another writer was in the way: he is gone in a moment.
const CONTENTION_PAUSE: Duration = Duration::from_millis(5);

impl Heartbeat {
    fn run_apart<S: Store>(self, store: &S) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => runtime.block_on(async {
                let stop = self.stop.clone();
                let over = async {
                    stop.cancelled().await;
                    sleep(LAST_CALL).await;
                };
                tokio::select! {
                    () = self.connect_and_run(store) => {}
                    // Its connection hangs, and goes with the thread: nobody else uses it.
                    () = over => {}
                }
            }),
            Err(error) => {
                error!(
                    error = &error as &dyn std::error::Error,
                    "cannot start the heartbeat"
                );
            }
        }
    }

    async fn connect_and_run<S: Store>(self, store: &S) {
        let mut health = Health::new("connecting the heartbeat");
        while !self.stop.is_cancelled() {
            match store.connect_apart().await {
                Ok(own) => return self.run(&own).await,
                Err(error) => health.down(&error),
            }
            sleep(self.lease / 10).await;
        }
    }

    async fn run<S: Store>(self, store: &S) {
        let mut health = Health::new("renewing the lease");
        // From when the lease counts from: to connect, or a renewal, may have taken a while.
        let mut due = self.joined_at + self.lease / 3;
        let mut next = due;
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = sleep_until(next) => {}
            }
            if self.pulse.age() > self.stall_limit {
                warn!(limit = ?self.stall_limit, "the dispatcher's loop is stuck: letting the lease go");
                let _ = self.state.send(LeaseState::Lost);
                return;
            }
            let sent = Instant::now();
            if self.in_process {
                // A handler may hold the only connection for longer than the lease.
                self.state.send_modify(LeaseState::wait);
            }
            match store.renew(self.member, self.lease).await {
                Ok(true) => {
                    health.up();
                    // Across a wire the answer may be old; in this process it is true now.
                    let from = if self.in_process {
                        Instant::now()
                    } else {
                        sent
                    };
                    let _ = self.state.send(held(from, self.lease));
                    due = from + self.lease / 3;
                    next = due;
                }
                Ok(false) => {
                    let _ = self.state.send(LeaseState::Lost);
                    return;
                }
                Err(error) if error.kind() == StoreErrorKind::Contention => {
                    if due.elapsed() > self.lease / 3 {
                        health.down(&error);
                    }
                    next = Instant::now() + CONTENTION_PAUSE;
                }
                Err(error) => {
                    health.down(&error);
                    next = Instant::now() + self.lease / 10;
                }
            }
        }
    }
}

impl LeaseState {
    /// Lets the lease run on until the renewal that is being sent is answered.
    fn wait(&mut self) {
        if let Self::Held { until, .. } = self {
            *until = None;
        }
    }
}

fn held(sent: Instant, lease: Duration) -> LeaseState {
    LeaseState::Held {
        renewed_at: sent,
        until: Some(sent + lease),
    }
}
