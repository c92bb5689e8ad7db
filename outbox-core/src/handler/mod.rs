//! What an application does with an event.

mod delivery;
mod error;
mod publisher;
mod transactional;
mod batch;

pub use batch::BatchHandler;
pub(crate) use delivery::State;
pub use delivery::{Delivery, MissingState};
pub use error::{HandlerError, Wish};
pub use publisher::{Outcome, Publisher};
pub use transactional::{LendTo, TransactionalHandler};

use std::future::Future;

/// Handles the events of a topic: an async function, or a type of one's own.
///
/// Delivery is at least once: after a crash the same event comes again, with the same
/// [`Delivery::id`]. Hand that id to whatever must not act twice.
///
/// A handler is dropped at an await when its timeout ends or the dispatcher loses its lease; what
/// must not be cut in two belongs into a task of its own.
///
/// ```
/// use outbox_core::{Delivery, Handler, HandlerError};
/// # #[derive(serde::Deserialize)] struct Charge { cents: i64 }
/// # struct Client; impl Client { async fn charge(&self, _: i64, _key: String) -> Result<(), std::io::Error> { Ok(()) } }
///
/// struct ChargeCard {
///     client: Client,
/// }
///
/// impl Handler<Charge> for ChargeCard {
///     async fn handle(&self, charge: Charge, delivery: Delivery) -> Result<(), HandlerError> {
///         self.client.charge(charge.cents, delivery.idempotency_key()).await?;
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot handle `{E}`",
    label = "not a handler of `{E}`",
    note = "a handler is `async fn({E}, Delivery) -> Result<(), HandlerError>`, or a type that implements `Handler<{E}>`"
)]
pub trait Handler<E>: Send + Sync + 'static {
    /// Handles one event.
    ///
    /// # Errors
    /// What the handler wishes: see [`HandlerError`]. An error of any other type, through `?`,
    /// means that the event is tried again as its retry policy says.
    fn handle(
        &self,
        event: E,
        delivery: Delivery,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

impl<E, F, Fut> Handler<E> for F
where
    F: Fn(E, Delivery) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send,
    E: Send,
{
    fn handle(
        &self,
        event: E,
        delivery: Delivery,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send {
        self(event, delivery)
    }
}
