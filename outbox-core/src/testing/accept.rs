use crate::handler::{Delivery, Handler, HandlerError};

/// Handles any event by doing nothing.
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
