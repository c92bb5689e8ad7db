use crate::{
    envelope::Envelope,
    handler::{
        BatchHandler, Delivery, Handler, HandlerError, Outcome, Publisher, TransactionalHandler,
    },
};
use async_trait::async_trait;

/// Handles any event by doing nothing: as a handler of every kind, and as a publisher.
///
/// With [`on_event`](crate::DispatcherBuilder::on_event), say of which type:
/// `on_event::<OrderEvent>(Accept)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accept;

impl<E: Send> Handler<E> for Accept {
    async fn handle(&self, _: E, _: Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

impl<E: Send, X: Sync> TransactionalHandler<E, X> for Accept {
    async fn handle(&self, _: E, _: Delivery, _: &X) -> Result<(), HandlerError> {
        Ok(())
    }
}

impl<E: Send> BatchHandler<E> for Accept {
    async fn handle(&self, batch: Vec<(E, Delivery)>) -> Vec<Outcome> {
        batch.iter().map(|_| Ok(())).collect()
    }
}

#[async_trait]
impl Publisher for Accept {
    async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome> {
        envelopes.iter().map(|_| Ok(())).collect()
    }
}
