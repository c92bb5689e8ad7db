#![expect(missing_docs, reason = "the derive writes items without docs")]

use sea_orm::entity::prelude::*;

/// The key of an event that is not to be emitted twice.
#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox_dedupe")]
pub struct Model {
    /// The key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub dedupe_key: String,
    /// The event that was emitted with it.
    pub event_id: Uuid,
    /// Until when it is remembered.
    pub expires_at: DateTimeUtc,
    /// When it was used first.
    pub created_at: DateTimeUtc,
}

/// It refers to no other table.
#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
