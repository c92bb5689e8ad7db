//! What happens to an order. Doc comments of variants and fields end up in the documents.

use outbox_core::OutboxEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to an order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, OutboxEvent)]
#[outbox(aggregate = "order", crate = outbox_core)]
pub enum OrderEvent {
    /// A customer has placed an order. Was called `order.created` in the first release.
    #[outbox(was = "order.created")]
    Placed {
        /// The number on the invoice.
        #[outbox(key)]
        order_id: u64,
        /// What was ordered, in the order of the basket.
        lines: Vec<Line>,
        /// Added later: older events have none.
        #[serde(default)]
        note: Option<String>,
    },
    /// The order is to be paid for.
    #[outbox(topic = "payment.charge", version = 2, upcast(1 = Charge::from_yen), key = order_id)]
    Charge(Charge),
    /// The customer gets a mail, which need not wait for what else happens to the order.
    #[outbox(unordered, key = order_id)]
    Receipt {
        /// The number on the invoice.
        order_id: u64,
        /// The address.
        recipient: String,
    },
    /// Nothing more happens to the order.
    Closed(#[outbox(key)] u64),
}

/// One line of an order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// The article's number.
    pub article: String,
    /// How many of them.
    pub quantity: u32,
}

/// A charge to the customer's card.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Charge {
    /// The number on the invoice.
    pub order_id: u64,
    /// In the smallest unit of the currency.
    pub amount: i64,
    /// What the amount is in.
    pub currency: Currency,
}

/// The currencies that cards are charged in.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Currency {
    /// Amounts are in cents.
    Eur,
    /// Amounts are in yen.
    Jpy,
    /// Amounts are in cents.
    Usd,
}

/// Version 1, before there were other currencies.
#[derive(Deserialize)]
pub struct YenCharge {
    order_id: u64,
    yen: i64,
}

impl Charge {
    fn from_yen(old: YenCharge) -> Self {
        Self {
            order_id: old.order_id,
            amount: old.yen,
            currency: Currency::Jpy,
        }
    }
}

/// A customer's account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, OutboxEvent)]
#[outbox(aggregate = "customer", topic = "customer.moved", key = customer_id, crate = outbox_core)]
pub struct CustomerMoved {
    /// The number on the customer's card.
    pub customer_id: u64,
    /// Where to, or nothing if the customer does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// Where somebody lives.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    /// With the number.
    pub street: String,
    /// Without the post code.
    pub city: String,
}
