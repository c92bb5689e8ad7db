#![expect(missing_docs, reason = "the derive writes items without docs")]

use sea_orm::entity::prelude::*;

/// An event that is not delivered yet.
#[derive(Debug, Clone, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox_event")]
pub struct Model {
    /// The event's position: never used twice.
    #[sea_orm(primary_key)]
    pub seq: i64,
    /// The event's id, the same for every delivery.
    pub id: Uuid,
    /// The kind of aggregate.
    #[sea_orm(column_name = "aggregatetype")]
    pub aggregate_type: String,
    /// The aggregate's key; an unordered event may have none.
    #[sea_orm(column_name = "aggregateid")]
    pub aggregate_id: Option<String>,
    /// The topic's name.
    pub topic: String,
    /// The payload; see the [module](super) about large numbers.
    pub payload: Json,
    /// The headers: an object of strings and numbers.
    pub headers: Json,
    /// When the thing happened, in UTC.
    pub occurred_at: DateTime,
    /// Whether the event keeps its place among those of its aggregate.
    pub ordered: bool,
    /// How many deliveries have failed.
    pub attempts: i32,
    /// How many owners died while the event may have been in work, since its last outcome.
    pub crashes: i32,
    /// When the next attempt is, where one has failed.
    pub retry_at: Option<DateTimeUtc>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When the row was written.
    pub created_at: DateTimeUtc,
}

/// It refers to no other table.
#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
