use super::stop::Stop;
use std::{future::Future, sync::OnceLock, time::Duration};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long a session may take to end: the grace period, all in all, unless it is hurried or has
/// lost its lease.
#[derive(Debug)]
pub(crate) struct Patience<'a> {
    stop: &'a Stop,
    lost: &'a CancellationToken,
    until: Instant,
    ended: OnceLock<Instant>,
}

/// How long the last writes may take after that.
const LAST_WRITES: Duration = Duration::from_millis(700);

impl<'a> Patience<'a> {
    pub(crate) fn new(stop: &'a Stop, lost: &'a CancellationToken, grace: Duration) -> Self {
        let now = Instant::now();
        // A grace period that the clock cannot hold never ends.
        let never = now + Duration::from_secs(u32::MAX.into());
        Self {
            stop,
            lost,
            until: now.checked_add(grace).unwrap_or(never),
            ended: OnceLock::new(),
        }
    }

    /// Waits until handlers are dropped.
    pub(crate) async fn over(&self) {
        tokio::select! {
            () = self.stop.hard.cancelled() => {}
            () = self.lost.cancelled() => {}
            () = sleep_until(self.until) => {}
        }
        self.ended.get_or_init(Instant::now);
    }

    /// Waits until nothing more is waited for.
    pub(crate) async fn spent(&self) {
        self.over().await;
        sleep_until(*self.ended.get_or_init(Instant::now) + LAST_WRITES).await;
    }

    /// Waits for something, not for ever.
    pub(crate) async fn bounds(&self, work: impl Future) {
        tokio::select! {
            _ = work => {}
            () = self.spent() => {}
        }
    }
}
