use super::HandlerError;
use crate::envelope::Envelope;
use async_trait::async_trait;

/// Forwards events, still encoded, to a broker or another service.
///
/// An event counts as delivered only by its own `Ok`: answer it after the receiver's confirmation,
/// not when the event was put into a client's buffer.
///
/// ```
/// use outbox_core::{Envelope, HandlerError, Outcome, Publisher, async_trait};
/// # struct Broker; impl Broker { async fn send(&self, _: &str, _: &str, _: &str) -> Result<(), std::io::Error> { Ok(()) } }
///
/// struct ToBroker(Broker);
///
/// #[async_trait]
/// impl Publisher for ToBroker {
///     async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome> {
///         let mut outcomes = Vec::with_capacity(envelopes.len());
///         for envelope in envelopes {
///             let sent = self
///                 .0
///                 .send(&envelope.topic, &envelope.partition_key(), &envelope.payload)
///                 .await;
///             outcomes.push(sent.map_err(HandlerError::outage));
///         }
///         outcomes
///     }
/// }
/// ```
#[async_trait]
pub trait Publisher: Send + Sync + 'static {
    /// Publishes events and answers for each, in the order they came. No two of a slice belong to
    /// the same aggregate unless they are unordered.
    ///
    /// An event without an answer is tried again.
    async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome>;
}

/// The answer of a [`Publisher`] for one event.
pub type Outcome = Result<(), HandlerError>;
