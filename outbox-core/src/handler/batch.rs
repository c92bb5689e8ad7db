use super::{Delivery, Outcome};
use std::future::Future;

/// Handles several events of a topic at once: an async function, or a type of one's own.
///
/// For receivers that take many at once for the price of one: a bulk API, an index, a warehouse.
/// A batch has the events that are there, up to the size that was said where it was registered. Of
/// an ordered topic it has at most one event of each aggregate.
///
/// The answers are for the events in their order, each for itself; an event without an answer is
/// tried again. A panic, or the end of the time limit, counts for every event of the batch. What
/// cannot be decoded is no part of a batch and fails by itself.
///
/// What is emitted inside carries on the headers that all events of the batch have in common
/// (trace, tenant, correlation). For what one of them causes, run the emit in
/// [`Delivery::context`].
///
/// ```
/// use outbox_core::{BatchHandler, Delivery, HandlerError, Outcome};
/// # struct Product { sku: String }
/// # struct Index;
/// # impl Index { async fn put(&self, _: Vec<(String, String)>) -> Result<Vec<bool>, std::io::Error> { Ok(vec![true]) } }
///
/// async fn index(batch: Vec<(Product, Delivery)>) -> Vec<Outcome> {
///     let index = Index; // as a rule in the application's state: `delivery.state()`
///     let count = batch.len();
///     let documents = batch.into_iter().map(|(product, delivery)| {
///         (delivery.idempotency_key(), product.sku)
///     });
///     match index.put(documents.collect()).await {
///         Ok(taken) => taken
///             .into_iter()
///             .map(|taken| if taken { Ok(()) } else { Err(HandlerError::dead("refused")) })
///             .collect(),
///         Err(error) => {
///             let text = error.to_string();
///             (0..count).map(|_| Err(HandlerError::outage(text.clone()))).collect()
///         }
///     }
/// }
/// # fn is_handler(_: impl BatchHandler<Product>) {}
/// # is_handler(index);
/// ```
///
/// # Cancel safety
/// As of a [`Handler`](super::Handler): it is dropped at an await.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot handle batches of `{E}`",
    label = "not a batch handler of `{E}`",
    note = "a batch handler is `async fn(Vec<({E}, Delivery)>) -> Vec<Outcome>`, or a type that implements `BatchHandler<{E}>`"
)]
pub trait BatchHandler<E>: Send + Sync + 'static {
    /// Handles events, and answers for each in their order.
    fn handle(&self, batch: Vec<(E, Delivery)>) -> impl Future<Output = Vec<Outcome>> + Send;
}

impl<E, F, Fut> BatchHandler<E> for F
where
    F: Fn(Vec<(E, Delivery)>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Vec<Outcome>> + Send,
    E: Send,
{
    fn handle(&self, batch: Vec<(E, Delivery)>) -> impl Future<Output = Vec<Outcome>> + Send {
        self(batch)
    }
}
