use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
enum Missing {
    #[outbox(unordered)]
    Placed,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "an order")]
enum Illegal {
    #[outbox(unordered)]
    Placed,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic_prefix = "", verify = "no")]
struct Prefix {
    #[outbox(key)]
    order_id: u64,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "", crate = "outbox_core")]
enum Empty {
    #[outbox(unordered)]
    Placed,
}

fn main() {}
