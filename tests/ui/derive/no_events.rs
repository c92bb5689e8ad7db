use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(OutboxEvent)]
#[outbox(aggregate = "order")]
union Union {
    a: u8,
    b: u8,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Empty {}

fn main() {}
