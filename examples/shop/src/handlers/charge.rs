use super::request;
use crate::{
    app::App,
    events::{Charge, Declined, OrderEvent, Paid},
    gateway::GatewayError,
};
use outbox_seaorm::{Delivery, Emit, HandlerError, begin_immediate};
use std::time::Duration;
use tracing::info;

/// For longer than anybody delivers a charge again, also by hand.
const ONCE_WITHIN: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Takes the money, and tells what the gateway said: an event for the call, and one for its answer.
///
/// # Errors
/// When nobody can be charged at the moment, or the database failed.
pub async fn charge(charge: Charge, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    let Charge {
        order_id,
        total_cents,
    } = charge;
    // No transaction is open: nobody waits for the gateway with a lock in hand.
    let key = delivery.idempotency_key();
    let answer = match app.gateway.charge(&key, total_cents).await {
        Ok(receipt) => OrderEvent::Paid(Paid {
            order_id,
            cents: total_cents,
            receipt,
        }),
        // An answer, and not a failure of the delivery.
        Err(GatewayError::Declined) => OrderEvent::Declined(Declined { order_id }),
        Err(error @ GatewayError::Unavailable) => return Err(HandlerError::outage(error)),
    };
    // Delivered again, it is charged once by the key, and told once by the key.
    let txn = begin_immediate(&app.db).await?;
    txn.emit(answer)
        .dedupe_key(key)
        .dedupe_window(ONCE_WITHIN)
        .await?;
    txn.commit().await?;
    info!(%order_id, request = request(&delivery), "charged");
    Ok(())
}
