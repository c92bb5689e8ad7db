//! The transaction commits with the completion of the event, or not at all: nothing in here asks
//! whether it was done before.

use super::request;
use crate::{
    entities::{
        order::{self, Status},
        payment, shipment,
    },
    events::{Declined, Paid},
};
use outbox_seaorm::{Delivery, HandlerError};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, QueryFilter, Set,
};
use tracing::info;
use uuid::Uuid;

/// Books the payment, and hands the parcel over.
///
/// # Errors
/// When the order is gone, or the database failed.
pub async fn fulfil(
    paid: Paid,
    delivery: Delivery,
    txn: &DatabaseTransaction,
) -> Result<(), HandlerError> {
    let order = order::Entity::find_by_id(paid.order_id).one(txn).await?;
    let order = order.ok_or_else(|| HandlerError::dead("the order is gone"))?;
    let payment = payment::ActiveModel {
        order_id: Set(order.id),
        cents: Set(paid.cents),
        receipt: Set(paid.receipt),
    };
    payment::Entity::insert(payment)
        .exec_without_returning(txn)
        .await?;
    let shipment = shipment::ActiveModel {
        order_id: Set(order.id),
        address: Set(order.address),
    };
    shipment::Entity::insert(shipment)
        .exec_without_returning(txn)
        .await?;
    set_status(txn, order.id, Status::Shipped).await?;
    info!(order_id = %order.id, request = request(&delivery), "paid and shipped");
    Ok(())
}

/// Lets the customer know.
///
/// # Errors
/// When the database failed.
pub async fn decline(
    declined: Declined,
    _: Delivery,
    txn: &DatabaseTransaction,
) -> Result<(), HandlerError> {
    Ok(set_status(txn, declined.order_id, Status::Declined).await?)
}

async fn set_status(db: &impl ConnectionTrait, order: Uuid, status: Status) -> Result<(), DbErr> {
    order::Entity::update_many()
        .col_expr(order::Column::Status, status.into())
        .filter(order::Column::Id.eq(order))
        .exec(db)
        .await?;
    Ok(())
}
