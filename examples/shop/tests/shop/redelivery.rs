//! To copy into an application: a settle that fails after the delivery delivers again.

use crate::site::{Patience, app, tea};
use outbox_seaorm::{
    CancellationToken, async_trait,
    testing::{ReadEmitted, assert_emitted},
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, EntityTrait, PaginatorTrait};
use shop::{
    entities::{payment, shipment},
    events::{OrderEvent, Paid},
    gateway::{Gateway, GatewayError},
    handlers, orders,
};
use std::sync::{Arc, Mutex};

/// The idempotency keys that it was given.
#[derive(Default)]
struct Keys(Mutex<Vec<String>>);

#[async_trait]
impl Gateway for Keys {
    async fn charge(&self, key: &str, _: i64) -> Result<String, GatewayError> {
        self.0.lock().unwrap().push(key.to_owned());
        Ok("receipt".to_owned())
    }
}

/// Refuses to let an event go, and ends that.
fn trigger(backend: DbBackend) -> [&'static str; 2] {
    match backend {
        DbBackend::Postgres => [
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                $$ BEGIN RAISE 'the event must stay'; END $$; \
             CREATE TRIGGER refuse BEFORE DELETE ON outbox_event \
                FOR EACH ROW EXECUTE FUNCTION refuse()",
            "DROP TRIGGER refuse ON outbox_event",
        ],
        _ => [
            "CREATE TRIGGER refuse BEFORE DELETE ON outbox_event \
                BEGIN SELECT RAISE(ABORT, 'the event must stay'); END",
            "DROP TRIGGER refuse",
        ],
    }
}

/// How often it was told that an order is paid.
async fn paid(db: &DatabaseConnection) -> usize {
    let events = db.emitted().await.unwrap().of::<OrderEvent>().unwrap();
    let paid = |event: &OrderEvent| matches!(event, OrderEvent::Paid(_));
    events.iter().filter(|found| paid(&found.event)).count()
}

#[tokio::test]
async fn a_settle_that_fails_after_the_delivery_delivers_again() {
    let (mut app, _folder) = app().await;
    let keys = Arc::new(Keys::default());
    app.gateway = keys.clone();
    let db = app.db.clone();
    let [refuse, accept] = trigger(db.get_database_backend());
    db.execute_unprepared(refuse).await.unwrap();
    let order = serde_json::from_value(tea()).unwrap();
    orders::place(&db, "acme", "1", &order).await.unwrap();
    let patience = Patience::new();
    let first = handlers::dispatcher(&app).spawn(CancellationToken::new());
    let first = first.unwrap();
    while paid(&db).await == 0 {
        patience.wait().await;
    }
    first.abort().await;
    db.execute_unprepared(accept).await.unwrap();
    let second = handlers::dispatcher(&app).build().unwrap();
    second.fast_forward().await.unwrap();
    let keys = keys.0.lock().unwrap().clone();
    assert_eq!(keys, [keys[0].clone(), keys[0].clone()]);
    // The answer was told once, and what it caused was done once.
    assert_eq!(paid(&db).await, 1);
    assert_emitted!(&db, OrderEvent::Paid(Paid { receipt, .. }) if receipt == "receipt");
    assert_eq!(payment::Entity::find().count(&db).await.unwrap(), 1);
    assert_eq!(shipment::Entity::find().count(&db).await.unwrap(), 1);
}
