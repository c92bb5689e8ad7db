#![expect(missing_docs, reason = "the derive writes items without docs")]

use sea_orm::entity::prelude::*;

/// What operators did.
#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox_operation")]
pub struct Model {
    /// The record's id, a UUIDv7.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// What was done.
    pub act: String,
    /// Who did it.
    pub who: String,
    /// Why.
    pub why: String,
    /// The topic it was done with.
    pub topic: Option<String>,
    /// The event it was done with.
    pub event_id: Option<Uuid>,
    /// Where that event stood; of a replay, how far it has come in the history.
    pub seq: Option<i64>,
    /// How many events it was done with.
    pub events: i64,
    /// When.
    pub done_at: DateTimeUtc,
}

/// It refers to no other table.
#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
