use crate::{
    entities::{mail, order},
    error::Error,
};
use sea_orm::{ColumnTrait, DatabaseConnection, EntityTrait, PaginatorTrait, QueryFilter};
use serde::Serialize;
use uuid::Uuid;

/// An order as a customer sees it.
#[derive(Debug, Serialize)]
pub struct View {
    id: Uuid,
    item: String,
    quantity: i32,
    total_cents: i64,
    status: order::Status,
    mailed: bool,
}

/// What became of an order.
///
/// # Errors
/// When the tenant has no such order, or the database failed.
pub async fn find(db: &DatabaseConnection, tenant: &str, id: Uuid) -> Result<View, Error> {
    let order = order::Entity::find_by_id(id)
        .filter(order::Column::Tenant.eq(tenant))
        .one(db)
        .await?
        .ok_or(Error::NotFound)?;
    let mails = mail::Entity::find().filter(mail::Column::OrderId.eq(id));
    Ok(View {
        id,
        mailed: mails.count(db).await? > 0,
        item: order.item,
        quantity: order.quantity,
        total_cents: order.total_cents,
        status: order.status,
    })
}
