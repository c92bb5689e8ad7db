use outbox_seaorm::{Emit, Outbox, OutboxEvent};
use sea_orm::{DatabaseConnection, DatabaseExecutor};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic = "order.placed")]
struct Placed {
    #[outbox(key)]
    id: i64,
}

async fn on_a_connection(db: &DatabaseConnection) {
    db.emit(Placed { id: 1 }).await.unwrap();
    db.emit_all([Placed { id: 1 }]).await.unwrap();
    Outbox::default().emit(db, Placed { id: 1 }).await.unwrap();
}

async fn on_an_executor(executor: &DatabaseExecutor<'_>) {
    executor.emit(Placed { id: 1 }).await.unwrap();
}

fn main() {}
