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
    #[outbox(key_const = "")]
    Empty,
}

fn main() {}
