//! Writes down what handlers were given.

mod seen;
mod wanted;
mod order;
mod recorded;

pub use order::{Disorder, Rule};
pub use recorded::Recorded;
pub use seen::{Ending, Seen};
pub use wanted::{NotSeen, Wanted};

use crate::{handler::Delivery, testing::Accept};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// Writes down the deliveries that handlers were given and how they ended; waits for them; and
/// checks their order. Handlers of every kind, and publishers. A clone is the same recorder.
///
/// ```
/// # use outbox_core::{MemoryStore, OutboxEvent};
/// # type Dispatcher = outbox_core::Dispatcher<MemoryStore>;
/// use outbox_core::{CancellationToken, Delivery, HandlerError, testing::Recorder};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize, OutboxEvent)]
/// # #[outbox(aggregate = "order", crate = outbox_core)]
/// # struct Placed { #[outbox(key)] order_id: u32 }
///
/// async fn ship(_: Placed, _: Delivery) -> Result<(), HandlerError> {
///     Ok(())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let store = MemoryStore::new();
/// let recorder = Recorder::new();
/// let dispatcher = Dispatcher::builder(store.clone())
///     .on(Placed::TOPIC, recorder.wrap(ship))
///     .spawn(CancellationToken::new())?;
/// # store.emit_all([Placed { order_id: 7 }, Placed { order_id: 8 }])?;
/// // … place two orders …
/// let shipped = recorder.wait_for(Placed::TOPIC, 2).await?;
/// assert_eq!(shipped[0].key(), Some("7"));
/// dispatcher.shutdown().await;
/// recorder.check_order()?;
/// assert!(recorder.duplicates().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    /// How long to wait for something.
    patience: Duration,
}

#[derive(Debug, Default)]
struct Shared {
    log: Mutex<Log>,
    /// Told after each start and end.
    news: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Log {
    seen: Vec<Seen>,
    /// How many starts and ends there were.
    moments: usize,
}

/// Only something that never comes is waited for so long.
const PATIENCE: Duration = Duration::from_secs(30);

impl Recorder {
    /// One that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::default(),
            patience: PATIENCE,
        }
    }

    /// The same recorder, which waits so long: 30 s if nothing is said.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same handler of any kind, or publisher, whose deliveries are written down. For a wrapper,
    /// record inside of it what the application's handler is given, outside of it what the
    /// dispatcher is told.
    pub fn wrap<H>(&self, handler: H) -> Recorded<H> {
        Recorded::new(self.clone(), handler)
    }

    /// A handler that does nothing but write down.
    #[must_use]
    pub fn handler(&self) -> Recorded<Accept> {
        self.wrap(Accept)
    }

    /// All deliveries so far, in the order in which they began.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.lock().seen.clone()
    }

    /// The deliveries that succeeded, in the order in which they began.
    #[must_use]
    pub fn done(&self, wanted: impl Into<Wanted>) -> Vec<Delivery> {
        done(&self.lock().seen, &wanted.into())
    }

    /// Waits until so many deliveries of a topic or an event have succeeded, and gives them.
    ///
    /// # Errors
    /// When they do not within the recorder's patience.
    ///
    /// # Cancel safety
    /// Nothing depends on this future.
    pub async fn wait_for(
        &self,
        wanted: impl Into<Wanted>,
        count: usize,
    ) -> Result<Vec<Delivery>, NotSeen> {
        let wanted = wanted.into();
        let what = format!("{count} × {wanted}");
        self.wait_until(&what, |seen| done(seen, &wanted).len() >= count)
            .await?;
        Ok(self.done(wanted))
    }

    /// Waits until something holds of what was seen; `what` is for the message.
    ///
    /// # Errors
    /// When it does not within the recorder's patience.
    ///
    /// # Cancel safety
    /// Nothing depends on this future.
    pub async fn wait_until(
        &self,
        what: &str,
        mut holds: impl FnMut(&[Seen]) -> bool,
    ) -> Result<(), NotSeen> {
        // Before the first look, so that nothing in between is missed.
        let mut news = self.shared.news.subscribe();
        let held = async {
            while !holds(&self.lock().seen) {
                // The sender lives as long as the recorder.
                let _ = news.changed().await;
            }
        };
        let held = timeout(self.patience, held).await;
        held.map_err(|_| NotSeen::new(what, self.patience, self.seen()))
    }

    /// The deliveries of events that had succeeded before. A replay is none. Where a transactional
    /// handler succeeded and its transaction did not, the event comes again too: what it has done is
    /// told by the database.
    #[must_use]
    pub fn duplicates(&self) -> Vec<Delivery> {
        order::duplicates(&self.lock().seen)
    }

    /// Checks that events of an aggregate came one after the other, in their order. To be called
    /// when nothing is being delivered: what is repeated may have been repeated in part until then.
    ///
    /// # Errors
    /// What is wrong, with all deliveries of that aggregate.
    pub fn check_order(&self) -> Result<(), Disorder> {
        order::check(&self.lock().seen)
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        // Each change is one step: a panic elsewhere has left it whole.
        let log = self.shared.log.lock();
        log.unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down a start or an end, given the number of this moment.
    fn write<T>(&self, write: impl FnOnce(&mut Vec<Seen>, usize) -> T) -> T {
        let written = {
            let mut log = self.lock();
            log.moments += 1;
            let moment = log.moments;
            write(&mut log.seen, moment)
        };
        self.shared.news.send_replace(());
        written
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

fn done(seen: &[Seen], wanted: &Wanted) -> Vec<Delivery> {
    let done = seen
        .iter()
        .filter(|seen| seen.ending == Ending::Done && wanted.is(&seen.delivery));
    done.map(|seen| seen.delivery.clone()).collect()
}
