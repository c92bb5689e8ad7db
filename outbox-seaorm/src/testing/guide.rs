// The service that the guide tests (docs/testing.md): its code blocks include this file.

use outbox_seaorm::{BoxError, Delivery, Emit, HandlerError, OutboxEvent, schema};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, TransactionTrait};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::{Arc, Mutex}, time::Duration};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
pub enum OrderEvent {
    Placed { #[outbox(key)] order_id: u32, cents: u64 },
    #[outbox(key = order_id)]
    Charge(Charge),
    Reminder { #[outbox(key)] order_id: u32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Charge {
    pub order_id: u32,
    pub cents: u64,
}

pub async fn database() -> Result<DatabaseConnection, BoxError> {
    let db = Database::connect("sqlite::memory:").await?;
    schema::create(&db).await?;
    db.execute_unprepared("CREATE TABLE orders (id INTEGER PRIMARY KEY, cents INTEGER)").await?;
    Ok(db)
}

/// In one transaction of the caller.
pub async fn store_order<C>(txn: &C, order_id: u32, cents: u64) -> Result<(), BoxError>
where
    C: ConnectionTrait + outbox_seaorm::InTransaction,
{
    txn.emit(OrderEvent::Placed { order_id, cents }).await?;
    txn.emit(OrderEvent::Charge(Charge { order_id, cents })).await?;
    txn.emit(OrderEvent::Reminder { order_id }).after(Duration::from_secs(86_400)).await?;
    let insert = format!("INSERT INTO orders VALUES ({order_id}, {cents})");
    txn.execute_unprepared(&insert).await?;
    Ok(())
}

pub async fn place_order(db: &DatabaseConnection, order_id: u32, cents: u64) -> Result<(), BoxError> {
    let txn = db.begin().await?;
    store_order(&txn, order_id, cents).await?;
    txn.commit().await?;
    Ok(())
}

/// Whoever takes the money: once for each key.
#[derive(Debug, Clone, Default)]
pub struct Bank(Arc<Mutex<BTreeMap<String, u64>>>);

impl Bank {
    pub fn charge(&self, key: String, cents: u64) {
        self.0.lock().unwrap().insert(key, cents);
    }

    pub fn total(&self) -> u64 {
        self.0.lock().unwrap().values().sum()
    }
}

pub async fn charge(charge: Charge, delivery: Delivery) -> Result<(), HandlerError> {
    let bank = delivery.state::<Bank>()?;
    bank.charge(delivery.idempotency_key(), charge.cents);
    Ok(())
}

pub async fn tell(_: OrderEvent, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}
