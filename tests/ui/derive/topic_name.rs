use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(unordered, topic = "")]
    Empty,
    #[outbox(unordered, topic = "order placed")]
    Blank,
    #[outbox(unordered, topic = "order\0")]
    Nul,
    #[outbox(unordered, topic = placed)]
    NoText,
    #[outbox(unordered, topic = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")]
    Long,
    #[outbox(unordered)]
    Bestätigt,
    #[outbox(unordered, topic = "shop:order/v2.placed_at-once")]
    Fine,
}

fn main() {}
