use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Charge {
    order_id: u64,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(key = order_ib)]
    Near { order_id: u64 },
    #[outbox(key = "all")]
    Literal { order_id: u64, yen: i64 },
    #[outbox(key = "every one")]
    NoPath { order_id: u64 },
    #[outbox(key = order_id)]
    Tuple(u64, u64),
    #[outbox(key = 2)]
    Index(u64, u64),
    #[outbox(key = order_id)]
    Unit,
    #[outbox(key = order_id())]
    Method { order_id: u64 },
    #[outbox(key = order_id(1))]
    Argument(Charge),
    #[outbox(key = ())]
    Parts(Charge),
    #[outbox(key = &order_id)]
    Expression(Charge),
    #[outbox(key = 1e5)]
    Number(u64, u64),
    #[outbox(key = 0.1f32)]
    Suffix(u64, u64),
    #[outbox(key = "self")]
    Receiver { order_id: u64 },
    #[outbox(key = order_id.)]
    Unfinished { order_id: u64 },
    #[outbox(key_const = "")]
    Empty,
}

fn main() {}
