use crate::handler::{Delivery, Handler, HandlerError};
use std::{
    collections::HashMap,
    fmt,
    future::pending,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::sleep;
use uuid::Uuid;

/// A handler to which something befalls: each event meets the faults in the order in which they were
/// added, one a delivery, and is handled when none is left.
///
/// ```
/// # use outbox_core::{MemoryStore, OutboxEvent};
/// # type Dispatcher = outbox_core::Dispatcher<MemoryStore>;
/// use outbox_core::{Delivery, HandlerError, RetryPolicy, testing::{Faulty, Recorder}};
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
/// # store.emit(Placed { order_id: 7 })?;
/// let recorder = Recorder::new();
/// let flaky = Faulty::new(recorder.wrap(ship)).fails(2).forgets(1);
/// let dispatcher = Dispatcher::builder(store).on(Placed::TOPIC, flaky).build()?;
/// dispatcher.fast_forward().await?; // lets the time between the attempts pass
/// // It failed twice, did its work but could not say so, and did it again.
/// assert_eq!(recorder.seen().len(), 2);
/// assert_eq!(recorder.duplicates().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Faulty<H> {
    handler: H,
    faults: Vec<Fault>,
    delay: Duration,
    /// How many faults each event has met.
    met: Mutex<HashMap<Uuid, usize>>,
}

enum Fault {
    Fail(Box<dyn Fn() -> HandlerError + Send + Sync>),
    Panic,
    Hang,
    Forget,
}

impl<H> Faulty<H> {
    /// A handler without faults yet.
    pub fn new(handler: H) -> Self {
        Self {
            handler,
            faults: Vec::new(),
            delay: Duration::ZERO,
            met: Mutex::default(),
        }
    }

    /// So many deliveries fail before the handler is called, and are to be tried again.
    #[must_use]
    pub fn fails(self, times: usize) -> Self {
        self.fails_with(times, || HandlerError::retry("a fault of the test"))
    }

    /// So many deliveries fail with this error before the handler is called.
    #[must_use]
    pub fn fails_with(
        self,
        times: usize,
        error: impl Fn() -> HandlerError + Clone + Send + Sync + 'static,
    ) -> Self {
        self.meets(times, || Fault::Fail(Box::new(error.clone())))
    }

    /// So many deliveries panic.
    #[must_use]
    pub fn panics(self, times: usize) -> Self {
        self.meets(times, || Fault::Panic)
    }

    /// So many deliveries never end: the timeout drops them, or the end of the dispatcher.
    #[must_use]
    pub fn hangs(self, times: usize) -> Self {
        self.meets(times, || Fault::Hang)
    }

    /// So many deliveries do their work and fail then: as far as the outbox knows nothing was done.
    /// What the handler does must not act twice.
    #[must_use]
    pub fn forgets(self, times: usize) -> Self {
        self.meets(times, || Fault::Forget)
    }

    /// All deliveries take this much longer, by tokio's clock.
    #[must_use]
    pub fn slow(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    fn meets(mut self, times: usize, fault: impl Fn() -> Fault) -> Self {
        self.faults.extend((0..times).map(|_| fault()));
        self
    }

    fn next(&self, event: Uuid) -> Option<&Fault> {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let met = met.entry(event).or_default();
        *met += 1;
        self.faults.get(*met - 1)
    }
}

impl<E: Send, H: Handler<E>> Handler<E> for Faulty<H> {
    async fn handle(&self, event: E, delivery: Delivery) -> Result<(), HandlerError> {
        if !self.delay.is_zero() {
            sleep(self.delay).await;
        }
        match self.next(delivery.id()) {
            None => self.handler.handle(event, delivery).await,
            Some(Fault::Fail(error)) => Err(error()),
            #[expect(clippy::panic, reason = "what it is for")]
            Some(Fault::Panic) => panic!("a fault of the test"),
            Some(Fault::Hang) => pending().await,
            Some(Fault::Forget) => {
                self.handler.handle(event, delivery).await?;
                Err(HandlerError::retry(
                    "a fault of the test: it was done, and is not known",
                ))
            }
        }
    }
}

impl<H> fmt::Debug for Faulty<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty").finish_non_exhaustive()
    }
}
