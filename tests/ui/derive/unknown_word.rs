use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(agregate = "order", aggregate = "order", unordered, topic = "x")]
enum Event {
    #[outbox(topik = "x", unordered)]
    Near,
    #[outbox(aggregate = "order", unordered)]
    Misplaced,
    #[outbox(partition = 7, unordered)]
    Unknown,
    #[outbox(unordered)]
    Field {
        #[outbox(keys)]
        near: u64,
        #[outbox(topic = "x")]
        misplaced: u64,
        #[outbox(key = other)]
        value: u64,
    },
    #[outbox(unordered, unordered)]
    Twice,
}

fn main() {}
