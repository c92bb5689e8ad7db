//! What happens to orders and items, as the handlers need to know it.

use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Each variant is a topic with a handler of its own, which takes the variant's content.
#[derive(Debug, Clone, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
pub enum OrderEvent {
    /// The customer owes money.
    #[outbox(topic = "payment.charge", key = order_id)]
    Charge(Charge),
    /// The money is there; emitted by the handler of `Charge`. The topic is `order.paid`.
    #[outbox(key = order_id)]
    Paid(Paid),
    /// The bank said no; emitted by the same handler.
    #[outbox(key = order_id)]
    Declined(Declined),
    /// The customer waits for a mail, and the mail for nobody: `unordered`.
    #[outbox(topic = "mail.confirmation", unordered, key = order_id)]
    Confirmation(Confirmation),
}

/// Money to be taken.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Charge {
    /// The order to be paid.
    pub order_id: Uuid,
    /// How much.
    pub total_cents: i64,
}

/// An order that has been paid, to be shipped.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Paid {
    /// The order.
    pub order_id: Uuid,
    /// How much.
    pub cents: i64,
    /// The name that the gateway gave to the payment.
    pub receipt: String,
}

/// An order that nobody pays.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Declined {
    /// The order.
    pub order_id: Uuid,
}

/// A mail about a new order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Confirmation {
    /// The order.
    pub order_id: Uuid,
    /// The customer's address.
    pub recipient: String,
}

/// There is little left of an item. The topic is `item.stock_low`.
#[derive(Debug, Clone, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "item", unordered)]
pub struct StockLow {
    /// The item.
    #[outbox(key)]
    pub sku: String,
    /// How many of it.
    pub left: i32,
}
