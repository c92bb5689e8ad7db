use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    Placed {
        #[outbox(key)]
        order_id: Option<u64>,
    },
    Moved(#[outbox(key)] Vec<u8>, u8),
}

#[derive(Serialize, Deserialize)]
struct Charge {
    order_id: Option<u64>,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", key = charge.order_id)]
struct Paid {
    charge: Charge,
}

fn main() {}
