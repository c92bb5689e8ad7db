//! What happens after an order was placed.
//!
//! Delivery is at least once. Each handler writes its row under the event's id, so that a second
//! delivery changes nothing, and hands that id to whoever must not act twice.

use crate::{
    app::App,
    database,
    entities::{
        mail,
        order::{self, Status},
        payment, shipment,
    },
    events::{Charge, Confirmation, OrderEvent, Paid},
    gateway::GatewayError,
};
use outbox_seaorm::{
    Delivery, Dispatcher, DispatcherBuilder, Emit, HandlerError, SeaOrmStore, headers,
};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, Set};
use std::time::Duration;
use tracing::info;
use uuid::Uuid;

/// The dispatcher with the shop's handlers.
pub fn dispatcher(app: &App) -> DispatcherBuilder<SeaOrmStore> {
    Dispatcher::builder(&app.db)
        .topic(OrderEvent::CHARGE, |t| {
            t.handler(charge).timeout(Duration::from_secs(30))
        })
        .on(OrderEvent::PAID, ship)
        .topic(OrderEvent::CONFIRMATION, |t| {
            t.handler(confirm).concurrency(4)
        })
        .with_state(app.clone())
}

async fn charge(charge: Charge, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    let key = delivery.idempotency_key();
    // Not inside of the transaction: nobody waits for the gateway with a lock in hand.
    let receipt = match app.gateway.charge(&key, charge.total_cents).await {
        Ok(receipt) => receipt,
        // An answer, and not a failure of the delivery.
        Err(GatewayError::Declined) => {
            set_status(&app.db, charge.order_id, Status::Declined).await?;
            return Ok(());
        }
        Err(error @ GatewayError::Unavailable) => return Err(HandlerError::outage(error)),
    };
    let txn = database::begin(&app.db).await?;
    let row = payment::ActiveModel {
        event_id: Set(delivery.id()),
        order_id: Set(charge.order_id),
        cents: Set(charge.total_cents),
        receipt: Set(receipt),
    };
    let inserted = payment::Entity::insert(row)
        .on_conflict_do_nothing()
        .exec_without_returning(&txn)
        .await?;
    if !database::is_new(&inserted) {
        return Ok(());
    }
    set_status(&txn, charge.order_id, Status::Paid).await?;
    let order_id = charge.order_id;
    txn.emit(OrderEvent::Paid(Paid { order_id })).await?;
    txn.commit().await?;
    info!(%order_id, request = request(&delivery), "paid");
    Ok(())
}

async fn ship(paid: Paid, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    let txn = database::begin(&app.db).await?;
    let Some(order) = order::Entity::find_by_id(paid.order_id).one(&txn).await? else {
        return Err(HandlerError::dead("the order is gone"));
    };
    let row = shipment::ActiveModel {
        event_id: Set(delivery.id()),
        order_id: Set(order.id),
        address: Set(order.address),
    };
    let inserted = shipment::Entity::insert(row)
        .on_conflict_do_nothing()
        .exec_without_returning(&txn)
        .await?;
    if database::is_new(&inserted) {
        set_status(&txn, order.id, Status::Shipped).await?;
        txn.commit().await?;
        info!(order_id = %order.id, request = request(&delivery), "shipped");
    }
    Ok(())
}

async fn confirm(confirmation: Confirmation, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    let row = mail::ActiveModel {
        event_id: Set(delivery.id()),
        order_id: Set(confirmation.order_id),
        recipient: Set(confirmation.recipient),
    };
    mail::Entity::insert(row)
        .on_conflict_do_nothing()
        .exec_without_returning(&app.db)
        .await?;
    Ok(())
}

async fn set_status(db: &impl ConnectionTrait, order: Uuid, status: Status) -> Result<(), DbErr> {
    order::Entity::update_many()
        .col_expr(order::Column::Status, status.into())
        .filter(order::Column::Id.eq(order))
        .exec(db)
        .await?;
    Ok(())
}

/// The request that it all began with.
fn request(delivery: &Delivery) -> Option<&str> {
    delivery.headers().text(headers::CORRELATION_ID)
}
