//! To copy into an application: what a handler needs is down for a while, in no time.

use crate::site::{app, tea};
use outbox_seaorm::{
    async_trait,
    testing::{assert_emitted, refute_emitted},
};
use sea_orm::EntityTrait;
use shop::{
    entities::order::{self, Status},
    events::OrderEvent,
    gateway::{Gateway, GatewayError},
    handlers, orders,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Does not answer so many times, then takes the money.
struct Down(AtomicUsize);

#[async_trait]
impl Gateway for Down {
    async fn charge(&self, _: &str, _: i64) -> Result<String, GatewayError> {
        let left = self
            .0
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        match left {
            Ok(_) => Err(GatewayError::Unavailable),
            Err(_) => Ok("receipt".to_owned()),
        }
    }
}

#[tokio::test]
async fn orders_are_paid_when_the_gateway_is_back() {
    let (mut app, _folder) = app().await;
    app.gateway = Arc::new(Down(AtomicUsize::new(4)));
    let order = serde_json::from_value(tea()).unwrap();
    let placed = orders::place(&app.db, "acme", "1", &order).await.unwrap();
    let dispatcher = handlers::dispatcher(&app).build().unwrap();

    // The mail does not wait for it.
    let drained = dispatcher.drain().await.unwrap();
    assert_eq!(drained.summary.delivered, 1);
    refute_emitted!(&app.db, OrderEvent::Paid(_));

    let drained = dispatcher.fast_forward().await.unwrap();
    assert_emitted!(&app.db, OrderEvent::Paid(paid) if paid.order_id == placed.id);
    // Nobody's fault: no attempt was counted.
    assert_eq!(drained.of(OrderEvent::CHARGE)[0].attempts, 1);
    let found = order::Entity::find_by_id(placed.id).one(&app.db).await;
    assert_eq!(found.unwrap().unwrap().status, Status::Shipped);
}
