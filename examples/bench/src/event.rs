//! What is emitted.

use crate::args::SMALLEST_PAYLOAD;
use outbox_seaorm::{Draft, IntoDraft, OutboxEvent};
use serde::{Deserialize, Serialize};

/// Two topics: with and without an order.
#[derive(Debug, Clone, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
pub(crate) enum OrderEvent {
    #[outbox(key = order_id)]
    Placed(Order),
    #[outbox(unordered, key = order_id)]
    Mailed(Order),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) order_id: u64,
    pub(crate) note: String,
}

/// Which events a measurement takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) ordered: bool,
    /// Over how many aggregates they are spread.
    pub(crate) keys: usize,
    /// The size of a payload in bytes.
    pub(crate) payload: usize,
}

impl Kind {
    /// The event with this number.
    pub(crate) fn event(&self, n: usize) -> OrderEvent {
        let order = Order {
            order_id: u64::MAX - (n % self.keys) as u64,
            note: "x".repeat(self.payload - SMALLEST_PAYLOAD),
        };
        if self.ordered {
            OrderEvent::Placed(order)
        } else {
            OrderEvent::Mailed(order)
        }
    }

    pub(crate) fn draft(&self, n: usize) -> Draft {
        self.event(n).into_draft()
    }

    pub(crate) fn order(&self) -> &'static str {
        if self.ordered { "ordered" } else { "unordered" }
    }
}
