#![expect(missing_docs, reason = "the derive writes items without docs")]

use sea_orm::entity::prelude::*;

/// An event in any state: what people ask for first.
#[derive(Debug, Clone, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox_status")]
pub struct Model {
    /// The event's id, the same for every delivery.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The event's position; none before it is due.
    pub seq: Option<i64>,
    /// The kind of aggregate.
    #[sea_orm(column_name = "aggregatetype")]
    pub aggregate_type: String,
    /// The aggregate's key; an unordered event may have none.
    #[sea_orm(column_name = "aggregateid")]
    pub aggregate_id: Option<String>,
    /// The topic's name.
    pub topic: String,
    /// The state.
    pub status: Status,
    /// How many deliveries have come to an end: those that failed, and the one that succeeded.
    pub attempts: i32,
    /// When it is tried next, where that is known.
    pub next_attempt_at: Option<DateTimeUtc>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When the row was written.
    pub created_at: DateTimeUtc,
    /// When it was delivered.
    pub sent_at: Option<DateTimeUtc>,
}

/// The state of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum Status {
    /// Waits for its first delivery.
    #[sea_orm(string_value = "pending")]
    Pending,
    /// Has failed and is tried again.
    #[sea_orm(string_value = "retrying")]
    Retrying,
    /// Waits behind a dead letter of its aggregate.
    #[sea_orm(string_value = "blocked")]
    Blocked,
    /// Is not due yet.
    #[sea_orm(string_value = "scheduled")]
    Scheduled,
    /// Is not tried any more.
    #[sea_orm(string_value = "dead")]
    Dead,
    /// Was delivered.
    #[sea_orm(string_value = "delivered")]
    Delivered,
}

/// It refers to no other table.
#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
