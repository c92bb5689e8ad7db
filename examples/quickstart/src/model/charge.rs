//! What the pretended card service has booked.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "charges")]
pub(crate) struct Model {
    /// A second delivery of the same event finds this row and does nothing.
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) event_id: Uuid,
    pub(crate) order_id: String,
    pub(crate) currency: String,
    /// Negative when the money went back.
    pub(crate) amount: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
