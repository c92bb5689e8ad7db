//! A committed order.

#![expect(missing_docs, reason = "the derive writes items without docs")]

use sea_orm::entity::prelude::*;
use serde::Serialize;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "orders")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose order it is.
    pub tenant: String,
    /// Unique for a tenant: the same request sent again finds this order.
    pub idempotency_key: String,
    pub mail: String,
    pub address: String,
    pub item: String,
    pub quantity: i32,
    pub total_cents: i64,
    pub status: Status,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, EnumIter, DeriveActiveEnum)]
#[sea_orm(
    rs_type = "String",
    db_type = "String(StringLen::None)",
    rename_all = "snake_case"
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody has paid yet.
    Placed,
    /// The bank said no.
    Declined,
    /// Paid, and on its way.
    Shipped,
}

/// None.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
