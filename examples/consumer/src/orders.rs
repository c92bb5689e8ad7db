//! Work in the database: together with the record that the event was received, or not at all.

use crate::Event;
use outbox_seaorm::Inbox;
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, entity::prelude::*};
use serde::Serialize;

/// How an order stands: what its last event says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, DeriveEntityModel)]
#[sea_orm(table_name = "seen_order")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: String,
    pub(crate) status: String,
    /// How many events there were.
    pub(crate) events: i32,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

pub(crate) async fn create(db: &DatabaseConnection) -> Result<(), DbErr> {
    let sql = "CREATE TABLE IF NOT EXISTS seen_order \
        (id TEXT PRIMARY KEY NOT NULL, status TEXT NOT NULL, events INTEGER NOT NULL)";
    db.execute_unprepared(sql).await.map(drop)
}

/// An event that comes late for the second time must not turn the order back.
pub(crate) async fn receive(
    db: &DatabaseConnection,
    inbox: &Inbox,
    event: &Event,
) -> Result<(), DbErr> {
    let work = async |txn: &DatabaseTransaction| step(txn, event).await;
    inbox.once(db, event.id, work).await.map(drop)
}

async fn step(txn: &DatabaseTransaction, event: &Event) -> Result<(), DbErr> {
    let id = event.order_id.clone();
    let seen = Entity::find_by_id(&*id).one(txn).await?;
    let order = ActiveModel {
        id: sea_orm::Set(id),
        status: sea_orm::Set(event.status.clone()),
        events: sea_orm::Set(seen.as_ref().map_or(0, |order| order.events) + 1),
    };
    match seen {
        Some(_) => order.update(txn).await?,
        None => order.insert(txn).await?,
    };
    Ok(())
}

pub(crate) async fn find(db: &DatabaseConnection, id: &str) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}
