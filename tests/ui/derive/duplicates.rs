use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(unordered)]
    Placed,
    #[outbox(unordered, topic = "order.placed")]
    Renamed,
    #[outbox(unordered, topic = "order.abc")]
    ABC,
    #[outbox(unordered, topic = "order.other")]
    Abc,
}

fn main() {}
