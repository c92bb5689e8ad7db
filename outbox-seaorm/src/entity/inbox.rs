#![expect(missing_docs, reason = "the derive writes items without docs")]

use sea_orm::entity::prelude::*;

/// What a consumer has received.
#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox_inbox")]
pub struct Model {
    /// The consumer's name.
    #[sea_orm(primary_key, auto_increment = false)]
    pub consumer: String,
    /// The event's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub event_id: Uuid,
    /// The replay that makes it another message; nil for none.
    #[sea_orm(primary_key, auto_increment = false)]
    pub replay_id: Uuid,
    /// Whoever began it last.
    pub claim: Uuid,
    /// How often it was begun without being completed.
    pub tries: i32,
    /// When it was begun last.
    pub begun_at: DateTimeUtc,
    /// Until when it is left to whoever began it.
    pub lease_until: DateTimeUtc,
    /// When it was done.
    pub done_at: Option<DateTimeUtc>,
}

/// It refers to no other table.
#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
