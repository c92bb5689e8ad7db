use outbox_seaorm::{Delivery, Dispatcher, OutboxEvent};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic = "order.placed")]
struct Placed {
    #[outbox(key)]
    order_id: String,
}

fn build(db: &DatabaseConnection, update: String) {
    let _ = Dispatcher::builder(db).on_transactional(
        Placed::TOPIC,
        async move |_: Placed, _: Delivery, txn: &DatabaseTransaction| {
            txn.execute_unprepared(&update).await?;
            Ok(())
        },
    );
}

fn main() {}
