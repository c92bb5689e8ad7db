use super::{answer::within, retention::Retention};
use crate::store::{Kept, Position, Store, StoreError};
use std::{error::Error, future::Future, time::Duration};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use uuid::Uuid;

/// Deletes what a store has kept for long enough, and returns how many rows: for services that run
/// no dispatcher on these tables, once in a while. A dispatcher does it by itself.
///
/// # Errors
/// The store's, or none of its answers for five minutes; what was deleted before stays so.
///
/// # Cancel safety
/// Dropped, it has deleted some of the rows, and a batch that is under way comes to its end. What an
/// archive has got it may get again.
pub async fn prune<S: Store>(store: &S, retention: &Retention) -> Result<usize, StoreError> {
    let round = Round {
        store,
        retention,
        stop: &CancellationToken::new(),
        goes_on: &|| true,
    };
    round.prune().await
}

/// One look at every table.
pub(crate) struct Round<'a, S> {
    pub(crate) store: &'a S,
    pub(crate) retention: &'a Retention,
    pub(crate) stop: &'a CancellationToken,
    /// Asked after each batch.
    pub(crate) goes_on: &'a (dyn Fn() -> bool + Sync),
}

/// So many batches a table at a time: what is left waits for the next time.
const BATCHES: usize = 1_000;

/// How long a batch may take. Nobody else has to wait for it, but the tables grow meanwhile.
const ANSWER: Duration = Duration::from_secs(5 * 60);

/// So many events go to the archive at once: they may be long.
const ARCHIVED: usize = 100;

impl<S: Store> Round<'_, S> {
    pub(crate) async fn prune(&self) -> Result<usize, StoreError> {
        let Retention {
            delivered,
            dead,
            operations,
            inbox,
            ..
        } = *self.retention;
        let mut pruned = 0;
        if let Some(age) = delivered {
            pruned += match self.retention.archive {
                Some(_) => self.archive(age).await?,
                None => self.delete(Kept::Delivered, age).await?,
            };
        }
        for (kept, age) in [
            (Kept::Dead, dead),
            (Kept::Operations, operations),
            (Kept::Inbox, inbox),
            (Kept::DedupeKeys, Some(Duration::ZERO)),
        ] {
            if let Some(age) = age {
                pruned += self.delete(kept, age).await?;
            }
        }
        if pruned > 0 {
            info!(rows = pruned, "deleted what was kept long enough");
        }
        Ok(pruned)
    }

    async fn delete(&self, kept: Kept, age: Duration) -> Result<usize, StoreError> {
        let batch = self.retention.batch.max(1);
        let mut deleted = 0;
        for _ in 0..BATCHES {
            let began = Instant::now();
            let prune = move |store: S| async move { store.prune(kept, age, batch).await };
            let rows = self.ask(prune).await?;
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
            let expired = move |store: S| async move { store.expired(age, batch).await };
            let events = self.ask(expired).await?;
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
            let forget = |store: S| async move { store.forget(&keys).await };
            deleted += self.ask(forget).await?;
            if rows < batch || self.rest(began).await {
                break;
            }
        }
        Ok(deleted)
    }

    /// Asks the store for one batch, not for ever.
    async fn ask<T, Fut>(&self, call: impl FnOnce(S) -> Fut) -> Result<T, StoreError>
    where
        T: Send + 'static,
        Fut: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        within(ANSWER, "pruning", call(self.store.clone())).await
    }

    /// As long as the batch took, so that others come in between. Returns whether to stop.
    async fn rest(&self, began: Instant) -> bool {
        tokio::select! {
            () = sleep(began.elapsed()) => {}
            () = self.stop.cancelled() => {}
        }
        self.stop.is_cancelled() || !(self.goes_on)()
    }
}
