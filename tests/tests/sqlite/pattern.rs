//! The test to copy into an application: a settle that fails after the delivery delivers again.

use outbox_seaorm::{
    CancellationToken, Delivery, Dispatcher, DispatcherHandle, Emit, OutboxEvent, entity::event,
    schema,
};
use sea_orm::{
    ConnectionTrait, Database, DatabaseConnection, EntityTrait, PaginatorTrait, TransactionTrait,
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, sync::Mutex, time::Duration};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "account")]
struct Opened(#[outbox(key)] i64);

/// What handlers hand to services that must not act twice.
type Keys = Arc<Mutex<Vec<String>>>;

fn deliver(db: &DatabaseConnection, keys: &Keys) -> DispatcherHandle {
    let keys = Arc::clone(keys);
    let charge = move |_, delivery: Delivery| {
        keys.lock().unwrap().push(delivery.idempotency_key());
        async { Ok(()) }
    };
    let dispatcher = Dispatcher::builder(db).on(Opened::TOPIC, charge);
    dispatcher.spawn(CancellationToken::new()).unwrap()
}

#[tokio::test]
async fn a_settle_that_fails_after_the_delivery_delivers_again() {
    let db = Database::connect("sqlite::memory:").await.unwrap();
    schema::create(&db).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE DELETE ON outbox_event \
        BEGIN SELECT RAISE(ABORT, 'the event must stay'); END";
    db.execute_unprepared(refuse).await.unwrap();
    let txn = db.begin().await.unwrap();
    txn.emit(Opened(1)).await.unwrap();
    txn.commit().await.unwrap();

    let keys = Keys::default();
    let first = deliver(&db, &keys);
    while keys.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    first.abort().await;
    db.execute_unprepared("DROP TRIGGER refuse").await.unwrap();
    let second = deliver(&db, &keys);
    while event::Entity::find().count(&db).await.unwrap() > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    second.shutdown().await;
    let keys = keys.lock().unwrap();
    assert_eq!(*keys, [keys[0].clone(), keys[0].clone()]);
}
