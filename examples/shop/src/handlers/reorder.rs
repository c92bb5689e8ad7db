use crate::{
    app::App,
    events::StockLow,
    mailer::{Answer, Mail},
};
use outbox_seaorm::{Delivery, HandlerError};

/// Tells the buyer.
///
/// # Errors
/// When no mail can be sent at the moment, or ever.
pub async fn reorder(low: StockLow, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    let mail = Mail {
        key: delivery.idempotency_key(),
        recipient: "buyer@example.com".to_owned(),
        text: format!("{} of {} are left", low.left, low.sku),
    };
    match app
        .mailer
        .send(&[mail])
        .await
        .map_err(HandlerError::outage)?[..]
    {
        [Answer::Accepted] => Ok(()),
        _ => Err(HandlerError::dead("the buyer reads no mail")),
    }
}
