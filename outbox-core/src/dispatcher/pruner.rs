use super::{desk::Desk, health::Health, prune::Round, retention::Retention};
use crate::store::{Shard, Store, StoreError};
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Deletes what has been kept for long enough: the one of the fleet that owns the first shard.
/// Two at once, while one has lost the shard and does not know, only find less to do.
#[derive(Clone)]
pub(crate) struct Pruner<S> {
    pub(crate) store: S,
    pub(crate) desk: Arc<Desk>,
    pub(crate) retention: Retention,
    pub(crate) stop: CancellationToken,
}

const FIRST: Shard = 0;

/// How often it is looked whether the first shard is owned.
const LOOK: Duration = Duration::from_secs(1);

impl<S: Store> Pruner<S> {
    /// Prunes again and again until it is stopped.
    pub(crate) async fn run(self) {
        let mut health = Health::new("pruning");
        loop {
            let pause = if self.is_elected() {
                match self.prune().await {
                    Ok(()) => health.up(),
                    Err(error) => health.down(&error),
                }
                // Not in step with whatever else happens once a minute.
                self.retention.every.mul_f64(0.75 + fastrand::f64() / 4.0)
            } else {
                LOOK.min(self.retention.every)
            };
            self.pause(pause).await;
            if self.stop.is_cancelled() {
                return;
            }
        }
    }

    /// Prunes once, if it is this one's turn.
    pub(crate) async fn run_once(&self) {
        if self.is_elected()
            && let Err(error) = self.prune().await
        {
            Health::new("pruning").down(&error);
        }
    }

    async fn prune(&self) -> Result<(), StoreError> {
        let round = Round {
            store: &self.store,
            retention: &self.retention,
            stop: &self.stop,
            goes_on: &|| self.is_elected(),
        };
        round.prune().await.map(drop)
    }

    fn is_elected(&self) -> bool {
        self.desk.schedule().owns(FIRST)
    }

    async fn pause(&self, time: Duration) {
        tokio::select! {
            () = sleep(time) => {}
            () = self.stop.cancelled() => {}
        }
    }
}
