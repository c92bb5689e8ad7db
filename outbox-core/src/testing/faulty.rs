use crate::{
    envelope::Envelope,
    handler::{
        BatchHandler, Delivery, Handler, HandlerError, Outcome, Publisher, TransactionalHandler,
    },
};
use async_trait::async_trait;
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
/// A handler of any kind, or a publisher. Of what comes several at once each event meets its own
/// faults; a panic, or a handler that hangs, is met by all of them together.
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
    /// What the handler does must not act twice. Of a transactional handler it is rolled back.
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

/// What the handler may do for an event.
enum Turn {
    Work,
    /// Its work, which counts as failed.
    Forget,
    /// Nothing.
    Fail(HandlerError),
}

impl<H: Sync> Faulty<H> {
    /// One delivery of these events. What panics for one of them panics for all, and so does what
    /// hangs.
    async fn meet(&self, events: Vec<Uuid>) -> Vec<Turn> {
        if !self.delay.is_zero() {
            sleep(self.delay).await;
        }
        let met: Vec<_> = events.iter().map(|event| self.next(*event)).collect();
        let is_met = |wanted: fn(&Fault) -> bool| met.iter().flatten().any(|fault| wanted(fault));
        if is_met(|fault| matches!(fault, Fault::Panic)) {
            panics();
        }
        if is_met(|fault| matches!(fault, Fault::Hang)) {
            pending::<()>().await;
        }
        let turns = met.iter().map(|fault| match fault {
            Some(Fault::Fail(error)) => Turn::Fail(error()),
            Some(Fault::Forget) => Turn::Forget,
            _ => Turn::Work,
        });
        turns.collect()
    }

    async fn meet_one(&self, event: Uuid) -> Turn {
        self.meet(vec![event]).await.pop().unwrap_or(Turn::Work)
    }
}

#[expect(clippy::panic, reason = "what it is for")]
fn panics() -> ! {
    panic!("a fault of the test")
}

impl Turn {
    fn works(&self) -> bool {
        !matches!(self, Self::Fail(_))
    }

    /// What the dispatcher is told, given what the handler has answered if it was called.
    fn end(self, answer: Option<Outcome>) -> Outcome {
        let answer = answer.unwrap_or_else(|| Err(HandlerError::retry("no answer for the event")));
        match self {
            Self::Work => answer,
            Self::Forget => answer.and(Err(HandlerError::retry(
                "a fault of the test: it was done, and is not known",
            ))),
            Self::Fail(error) => Err(error),
        }
    }

    /// The answers are those for the events that were handed on.
    fn end_all(turns: Vec<Self>, answers: Vec<Outcome>) -> Vec<Outcome> {
        let mut answers = answers.into_iter();
        let ends = turns.into_iter().map(|turn| {
            let answer = turn.works().then(|| answers.next()).flatten();
            turn.end(answer)
        });
        ends.collect()
    }
}

impl<E: Send, H: Handler<E>> Handler<E> for Faulty<H> {
    async fn handle(&self, event: E, delivery: Delivery) -> Result<(), HandlerError> {
        match self.meet_one(delivery.id()).await {
            Turn::Fail(error) => Err(error),
            turn => turn.end(Some(self.handler.handle(event, delivery).await)),
        }
    }
}

impl<E: Send, X: Sync, H: TransactionalHandler<E, X>> TransactionalHandler<E, X> for Faulty<H> {
    async fn handle(&self, event: E, delivery: Delivery, txn: &X) -> Result<(), HandlerError> {
        match self.meet_one(delivery.id()).await {
            Turn::Fail(error) => Err(error),
            turn => turn.end(Some(self.handler.handle(event, delivery, txn).await)),
        }
    }
}

/// The handler gets what is to be done of a batch.
impl<E: Send, H: BatchHandler<E>> BatchHandler<E> for Faulty<H> {
    async fn handle(&self, batch: Vec<(E, Delivery)>) -> Vec<Outcome> {
        let ids = batch.iter().map(|(_, delivery)| delivery.id()).collect();
        let turns = self.meet(ids).await;
        let batch = batch.into_iter().zip(&turns);
        let batch: Vec<_> = batch
            .filter_map(|(event, turn)| turn.works().then_some(event))
            .collect();
        let answers = match batch.is_empty() {
            true => Vec::new(),
            false => self.handler.handle(batch).await,
        };
        Turn::end_all(turns, answers)
    }
}

/// The publisher gets what is to be done of a slice.
#[async_trait]
impl<P: Publisher> Publisher for Faulty<P> {
    async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome> {
        let ids = envelopes.iter().map(|envelope| envelope.id).collect();
        let turns = self.meet(ids).await;
        let slice = envelopes.iter().zip(&turns);
        let slice: Vec<_> = slice
            .filter(|(_, turn)| turn.works())
            .map(|(envelope, _)| envelope.clone())
            .collect();
        let answers = match slice.is_empty() {
            true => Vec::new(),
            false => self.handler.publish(&slice).await,
        };
        Turn::end_all(turns, answers)
    }
}

impl<H> fmt::Debug for Faulty<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty").finish_non_exhaustive()
    }
}
