#![deny(unused_must_use)]

use outbox_seaorm::{Emit, OutboxEvent};
use sea_orm::DatabaseTransaction;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic = "order.placed")]
struct Placed {
    #[outbox(key)]
    id: i64,
}

async fn forgotten(txn: &DatabaseTransaction) {
    txn.emit(Placed { id: 1 });
    txn.emit_all([Placed { id: 1 }]);
}

fn main() {}
