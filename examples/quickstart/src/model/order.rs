//! A committed order. Its id is what makes an import idempotent.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "orders")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: String,
    pub(crate) customer: String,
    pub(crate) mail: String,
    pub(crate) country: String,
    pub(crate) currency: String,
    /// In the currency's smallest unit.
    pub(crate) amount: i64,
    /// Nothing to ship.
    pub(crate) digital: bool,
    /// The order that this one pays back.
    pub(crate) refund_of: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
