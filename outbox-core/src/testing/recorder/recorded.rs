use super::{Ending, Recorder, Seen};
use crate::{
    envelope::Envelope,
    handler::{
        BatchHandler, Delivery, Handler, HandlerError, Outcome, Publisher, TransactionalHandler,
        Wish,
    },
};
use async_trait::async_trait;
use std::thread;

/// A handler of any kind, or a publisher, whose deliveries are written down: see
/// [`Recorder::wrap`].
#[derive(Debug, Clone)]
pub struct Recorded<H> {
    recorder: Recorder,
    handler: H,
}

impl<H> Recorded<H> {
    pub(super) fn new(recorder: Recorder, handler: H) -> Self {
        Self { recorder, handler }
    }
}

impl<E: Send, H: Handler<E>> Handler<E> for Recorded<H> {
    async fn handle(&self, event: E, delivery: Delivery) -> Result<(), HandlerError> {
        let run = Run::start(&self.recorder, delivery.clone(), 1);
        let outcome = self.handler.handle(event, delivery).await;
        run.end(Some(&outcome));
        outcome
    }
}

impl<E: Send, X: Sync, H: TransactionalHandler<E, X>> TransactionalHandler<E, X> for Recorded<H> {
    async fn handle(&self, event: E, delivery: Delivery, txn: &X) -> Result<(), HandlerError> {
        let run = Run::start(&self.recorder, delivery.clone(), 1);
        let outcome = self.handler.handle(event, delivery, txn).await;
        run.end(Some(&outcome));
        outcome
    }
}

impl<E: Send, H: BatchHandler<E>> BatchHandler<E> for Recorded<H> {
    async fn handle(&self, batch: Vec<(E, Delivery)>) -> Vec<Outcome> {
        let deliveries = batch.iter().map(|(_, delivery)| delivery.clone());
        let runs = Run::start_all(&self.recorder, deliveries);
        let outcomes = self.handler.handle(batch).await;
        Run::end_all(runs, &outcomes);
        outcomes
    }
}

/// What a publisher is given has no [`epoch`](Delivery::epoch): it is written down as 0.
#[async_trait]
impl<P: Publisher> Publisher for Recorded<P> {
    async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome> {
        let deliveries = envelopes.iter().map(|envelope| {
            let headers = envelope.parse_headers().unwrap_or_default();
            Delivery::new(envelope.clone(), headers, 0, None).0
        });
        let runs = Run::start_all(&self.recorder, deliveries);
        let outcomes = self.handler.publish(envelopes).await;
        Run::end_all(runs, &outcomes);
        outcomes
    }
}

/// A delivery that is under way.
struct Run<'a> {
    recorder: &'a Recorder,
    index: usize,
    ended: Option<Ending>,
}

impl<'a> Run<'a> {
    fn start(recorder: &'a Recorder, delivery: Delivery, together: usize) -> Self {
        let index = recorder.write(|seen, moment| {
            seen.push(Seen::new(delivery, together, moment));
            seen.len() - 1
        });
        Self {
            recorder,
            index,
            ended: None,
        }
    }

    fn start_all(
        recorder: &'a Recorder,
        deliveries: impl ExactSizeIterator<Item = Delivery>,
    ) -> Vec<Self> {
        let together = deliveries.len();
        deliveries
            .map(|delivery| Self::start(recorder, delivery, together))
            .collect()
    }

    /// An event without an answer is tried again.
    fn end(mut self, outcome: Option<&Outcome>) {
        self.ended = Some(match outcome {
            Some(Ok(())) => Ending::Done,
            Some(Err(error)) => Ending::Failed(error.wish()),
            None => Ending::Failed(Wish::Retry),
        });
    }

    fn end_all(runs: Vec<Self>, outcomes: &[Outcome]) {
        let mut outcomes = outcomes.iter();
        for run in runs {
            run.end(outcomes.next());
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let unsaid = if thread::panicking() {
            Ending::Panicked
        } else {
            Ending::Dropped
        };
        let ending = self.ended.unwrap_or(unsaid);
        self.recorder
            .write(|seen, moment| seen[self.index].ended(ending, moment));
    }
}
