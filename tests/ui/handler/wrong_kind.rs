use outbox_seaorm::{Delivery, Dispatcher, HandlerError, OutboxEvent};
use sea_orm::DatabaseConnection;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic = "order.placed")]
struct Placed {
    #[outbox(key)]
    order_id: String,
}

async fn plain(_: Placed, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn build(db: &DatabaseConnection) {
    let _ = Dispatcher::builder(db).on_transactional(Placed::TOPIC, plain);
    let _ = Dispatcher::builder(db).topic(Placed::TOPIC, |t| t.batch(10, plain));
}

fn main() {}
