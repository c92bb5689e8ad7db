use super::{desk::Desk, health::Health, retention::Retention};
use crate::store::{Kept, Position, Shard, Store, StoreError};
use std::{error::Error, sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use uuid::Uuid;

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

/// So many batches a table at a time: what is left waits for the next time.
const BATCHES: usize = 1_000;

/// So many events go to the archive at once: they may be long.
const ARCHIVED: usize = 100;

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

    /// Prunes every table.
    async fn prune(&self) -> Result<(), StoreError> {
        let Retention {
            delivered,
            dead,
            operations,
            ..
        } = self.retention;
        let mut pruned = 0;
        if let Some(age) = delivered {
            pruned += match self.retention.archive {
                Some(_) => self.archive(age).await?,
                None => self.delete(Kept::Delivered, age).await?,
            };
        }
        for (kept, age) in [(Kept::Dead, dead), (Kept::Operations, operations)] {
            if let Some(age) = age {
                pruned += self.delete(kept, age).await?;
            }
        }
        if pruned > 0 {
            info!(rows = pruned, "deleted what was kept long enough");
        }
        Ok(())
    }

    fn is_elected(&self) -> bool {
        self.desk.schedule().owns(FIRST)
    }

    async fn delete(&self, kept: Kept, age: Duration) -> Result<usize, StoreError> {
        let batch = self.retention.batch.max(1);
        let mut deleted = 0;
        for _ in 0..BATCHES {
            let began = Instant::now();
            let rows = self.store.prune(kept, age, batch).await?;
            deleted += rows;
            if rows < batch || self.rest(began).await {
                break;
            }
        }
        Ok(deleted)
    }

    async fn archive(&self, age: Duration) -> Result<usize, StoreError> {
        let batch = self.retention.batch.clamp(1, ARCHIVED);
        let mut deleted = 0;
        for _ in 0..BATCHES {
            let began = Instant::now();
            let events = self.store.expired(age, batch).await?;
            let rows = events.len();
            let keys: Vec<(Position, Uuid)> = events
                .iter()
                .map(|row| (row.event.position, row.event.id))
                .collect();
            if let Some(archive) = self.retention.archive.as_ref().filter(|_| rows > 0)
                && let Err(error) = archive.archive(events).await
            {
                let error: &dyn Error = &*error;
                warn!(error, "the archive did not take the history: it stays");
                break;
            }
            deleted += self.store.forget(&keys).await?;
            if rows < batch || self.rest(began).await {
                break;
            }
        }
        Ok(deleted)
    }

    /// As long as the batch took, so that others come in between. Returns whether to stop.
    async fn rest(&self, began: Instant) -> bool {
        self.pause(began.elapsed()).await;
        self.stop.is_cancelled() || !self.is_elected()
    }

    async fn pause(&self, time: Duration) {
        tokio::select! {
            () = sleep(time) => {}
            () = self.stop.cancelled() => {}
        }
    }
}
