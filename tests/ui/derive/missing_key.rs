use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    Placed { order_id: u64 },
    #[outbox(unordered)]
    Receipt,
    Closed,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
struct Paid {
    order_id: u64,
}

fn main() {}
