#![expect(missing_docs, reason = "the derive writes items without docs")]

use sea_orm::entity::prelude::*;

/// A topic that an operator has paused.
#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox_topic")]
pub struct Model {
    /// The topic's name.
    #[sea_orm(primary_key, auto_increment = false)]
    pub topic: String,
    /// Since when.
    pub paused_at: DateTimeUtc,
    /// Who paused it.
    pub paused_by: String,
    /// Why.
    pub why: String,
}

/// It refers to no other table.
#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
