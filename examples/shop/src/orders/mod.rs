//! Places orders: each in one transaction with its events, and each once.

mod new_order;
mod view;

pub use new_order::NewOrder;
pub use view::{View, find};

use crate::{
    database,
    entities::{item, order},
    error::Error,
    events::{Charge, Confirmation, OrderEvent, StockLow},
};
use outbox_seaorm::{Emit, begin_immediate};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseConnection, EntityTrait, ExprTrait, IntoActiveModel,
    QueryFilter,
};
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

/// How often a transaction is run again that others were in the way of.
const RETRIES: u32 = 5;
/// When the buyer is told.
const LOW: i32 = 3;

/// Places an order, or finds the one that was placed with this key.
///
/// # Errors
/// When the order breaks a rule, the key was used for another one, or the database failed.
pub async fn place(
    db: &DatabaseConnection,
    tenant: &str,
    key: &str,
    new: &NewOrder,
) -> Result<order::Model, Error> {
    new.check()?;
    let mut tries = 0;
    loop {
        match try_to_place(db, tenant, key, new).await {
            Err(Error::Contention(_)) if tries < RETRIES => tries += 1,
            done => return done,
        }
        sleep(Duration::from_millis(10) * tries).await;
    }
}

async fn try_to_place(
    db: &DatabaseConnection,
    tenant: &str,
    key: &str,
    new: &NewOrder,
) -> Result<order::Model, Error> {
    let txn = begin_immediate(db).await?;
    let total_cents = price(&txn, new).await?;
    let placed = order::Model {
        id: Uuid::now_v7(),
        tenant: tenant.to_owned(),
        idempotency_key: key.to_owned(),
        mail: new.mail.clone(),
        address: new.address.clone(),
        item: new.item.clone(),
        quantity: new.quantity,
        total_cents,
        status: order::Status::Placed,
    };
    // The unique index is the judge, also between two equal requests at once.
    let once = [order::Column::Tenant, order::Column::IdempotencyKey];
    let inserted = order::Entity::insert(placed.clone().into_active_model())
        .on_conflict_do_nothing_on(once)
        .exec_without_returning(&txn)
        .await?;
    if !database::is_new(&inserted) {
        txn.rollback().await?;
        return find_placed(db, tenant, key, new).await;
    }
    // After the order's row: its events are in the order of the commits then.
    txn.emit(OrderEvent::Charge(Charge {
        order_id: placed.id,
        total_cents,
    }))
    .await?;
    txn.emit(OrderEvent::Confirmation(Confirmation {
        order_id: placed.id,
        recipient: new.mail.clone(),
    }))
    .await?;
    // Last, since all orders of an item wait for this row. What was emitted goes away with the
    // transaction.
    let left = take_from_stock(&txn, new).await?;
    if left < LOW {
        // However many orders find it low: once within a day.
        let sku = new.item.clone();
        let key = format!("stock-low:{sku}");
        txn.emit(StockLow { sku, left }).dedupe_key(key).await?;
    }
    txn.commit().await?;
    Ok(placed)
}

/// The order that was placed with this key, if it is the same.
async fn find_placed(
    db: &DatabaseConnection,
    tenant: &str,
    key: &str,
    new: &NewOrder,
) -> Result<order::Model, Error> {
    let placed = order::Entity::find()
        .filter(order::Column::Tenant.eq(tenant))
        .filter(order::Column::IdempotencyKey.eq(key))
        .one(db)
        .await?
        .ok_or(Error::NotFound)?;
    if new.is_of(&placed) {
        Ok(placed)
    } else {
        Err(Error::KeyReused)
    }
}

async fn price(db: &impl ConnectionTrait, new: &NewOrder) -> Result<i64, Error> {
    match item::Entity::find_by_id(&new.item).one(db).await? {
        Some(item) => Ok(item.price_cents * i64::from(new.quantity)),
        None => Err(Error::Invalid(format!("nobody sells {:?} here", new.item))),
    }
}

/// Returns how many are left.
async fn take_from_stock(db: &impl ConnectionTrait, new: &NewOrder) -> Result<i32, Error> {
    let left = item::Column::InStock;
    let taken = item::Entity::update_many()
        .col_expr(left, left.into_expr().sub(new.quantity))
        .filter(item::Column::Sku.eq(&new.item))
        .filter(left.gte(new.quantity))
        .exec(db)
        .await?;
    if taken.rows_affected == 0 {
        return Err(Error::SoldOut);
    }
    let item = item::Entity::find_by_id(&new.item).one(db).await?;
    Ok(item.map_or(0, |item| item.in_stock))
}
