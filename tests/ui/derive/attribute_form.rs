use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox]
#[outbox = "order"]
#[outbox(aggregate)]
#[outbox("order")]
enum Event {
    #[outbox(unordered topic = "x")]
    Comma,
    #[outbox(unordered = true)]
    Flag,
    #[outbox(topic, unordered)]
    Value,
    #[outbox(topic =, unordered)]
    Nothing,
}

fn main() {}
