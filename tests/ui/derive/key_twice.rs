use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(key = order_id)]
    Marked {
        #[outbox(key)]
        order_id: u64,
    },
    #[outbox(key = order_id, key_const = "all")]
    Constant { order_id: u64 },
    #[outbox(key = order_id, key = yen)]
    Twice { order_id: u64, yen: i64 },
}

fn main() {}
