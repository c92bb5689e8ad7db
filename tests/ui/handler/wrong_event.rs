use outbox_seaorm::{Delivery, Dispatcher, HandlerError, OutboxEvent};
use sea_orm::DatabaseConnection;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum OrderEvent {
    #[outbox(topic = "stripe.charge", key = order_id)]
    Charge(Charge),
    Placed {
        #[outbox(key)]
        order_id: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Charge {
    order_id: String,
}

struct Client;

async fn charge(_: Charge, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn without_delivery(_: Charge) -> Result<(), HandlerError> {
    Ok(())
}

async fn without_result(_: Charge, _: Delivery) {}

fn build(db: &DatabaseConnection) {
    let _ = Dispatcher::builder(db).on(OrderEvent::PLACED, charge);
    let _ = Dispatcher::builder(db).on(OrderEvent::CHARGE, without_delivery);
    let _ = Dispatcher::builder(db).on(OrderEvent::CHARGE, without_result);
    let _ = Dispatcher::builder(db).on(OrderEvent::CHARGE, Client);
}

fn main() {}
