use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(unordered, version = 0)]
    Zero,
    #[outbox(unordered, version = -1)]
    Negative,
    #[outbox(unordered, version = "2")]
    Text,
    #[outbox(unordered, version = 4294967296)]
    Large,
    #[outbox(unordered, version = 1.5)]
    Fraction,
    #[outbox(unordered, version)]
    Missing,
    #[outbox(unordered, version = 4294967295, oldest = 4294967295)]
    Fine,
}

fn main() {}
