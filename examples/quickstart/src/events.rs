//! What happens to an order, as other parts of the business need to know it.

use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

/// Each variant is a topic with a handler of its own, which takes the variant's content.
#[derive(Debug, Clone, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
pub(crate) enum OrderEvent {
    #[outbox(topic = "payment.charge", key = order_id)]
    Charge(Payment),
    /// Has the key of the order that it pays back: it comes after that order's charge.
    #[outbox(topic = "payment.refund", key = order_id)]
    Refund(Payment),
    /// Becomes the topic `order.ship`.
    #[outbox(key = order_id)]
    Ship(Parcel),
    /// A mail need not wait for the card service: `unordered`.
    #[outbox(unordered, key = order_id)]
    Receipt(Letter),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(crate) order_id: String,
    pub(crate) currency: String,
    pub(crate) amount: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Parcel {
    pub(crate) order_id: String,
    pub(crate) customer: String,
    pub(crate) country: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Letter {
    pub(crate) order_id: String,
    pub(crate) recipient: String,
    pub(crate) subject: String,
}
