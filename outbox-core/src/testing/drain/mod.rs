//! Runs a dispatcher to the end of its work, and tells what became of each event.

mod observed;
mod outcome;

pub use outcome::{Drained, EventOutcome};

use super::TestStore;
use crate::{
    dispatcher::Dispatcher,
    store::{Store, StoreError},
};
use observed::{Observed, Outcomes};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// Longer than a handler may take, and than a dispatcher that died is waited for, by default.
const PATIENCE: Duration = Duration::from_secs(120);

impl<S: Store> Dispatcher<S> {
    /// Delivers what can be delivered now, as [`run_until_idle`](Self::run_until_idle) does in
    /// production, and tells what became of each event. After two minutes it stops, and
    /// [`Summary::idle`](crate::Summary::idle) is false.
    ///
    /// # Errors
    /// When the tables differ or the database cannot be reached.
    ///
    /// # Cancel safety
    /// Dropping the future stops the dispatcher in the background.
    pub async fn drain(&self) -> Result<Drained, StoreError> {
        let mut drained = Drained::default();
        self.drain_into(&mut drained, PATIENCE).await?;
        Ok(drained)
    }

    async fn drain_into(
        &self,
        drained: &mut Drained,
        patience: Duration,
    ) -> Result<(), StoreError> {
        let outcomes = Outcomes::default();
        let observed = Observed::new(self.store().clone(), &outcomes);
        let observed = self.over(observed, Arc::new(outcomes.clone()));
        let summary = observed.run_until_idle(patience).await?;
        drained.add(summary, outcomes.take());
        Ok(())
    }
}

impl<S: TestStore> Dispatcher<S> {
    /// Delivers until nothing waits any more: whenever nothing can be delivered, lets the time pass
    /// that the next retry or delayed event waits for, with [`TestStore::advance`]. Tells what
    /// became of each event, and when.
    ///
    /// After two minutes of real time it stops, and [`Summary::idle`](crate::Summary::idle) is false.
    ///
    /// # Errors
    /// When the tables differ, or the database cannot be reached or changed.
    ///
    /// # Cancel safety
    /// Dropping the future stops the dispatcher in the background.
    pub async fn fast_forward(&self) -> Result<Drained, StoreError> {
        /// What the databases count in may end later than what they say.
        const MOMENT: Duration = Duration::from_millis(1);
        let deadline = Instant::now() + PATIENCE;
        let mut drained = Drained::default();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            self.drain_into(&mut drained, left).await?;
            let Some(wait) = drained.summary.next_due.filter(|_| drained.summary.idle) else {
                return Ok(drained);
            };
            let wait = wait.max(MOMENT);
            self.store().advance(wait).await?;
            drained.passed += wait;
        }
    }
}
