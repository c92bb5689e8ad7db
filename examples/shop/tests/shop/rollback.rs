//! To copy into an application: a business write that fails leaves no event.

use crate::site::app;
use outbox_seaorm::testing::assert_emitted;
use sea_orm::EntityTrait;
use shop::{
    entities::order,
    error::Error,
    events::{OrderEvent, StockLow},
    orders,
};

fn teapots(quantity: i32) -> orders::NewOrder {
    orders::NewOrder {
        mail: "ada@example.com".to_owned(),
        address: "1 Main Street".to_owned(),
        item: "teapot".to_owned(),
        quantity,
    }
}

#[tokio::test]
async fn a_business_write_that_fails_after_the_second_emit_leaves_no_event() {
    let (app, _folder) = app().await;
    let db = app.db;
    let first = orders::place(&db, "acme", "1", &teapots(2)).await.unwrap();

    // One is left. The stock is looked at last, when two events have been emitted.
    let placed = orders::place(&db, "acme", "2", &teapots(2)).await;
    assert!(matches!(placed, Err(Error::SoldOut)));
    assert_emitted!(
        &db,
        [
            OrderEvent::Charge(charge) if charge.order_id == first.id,
            OrderEvent::Confirmation(mail) if mail.order_id == first.id,
            StockLow { left: 1, .. },
        ]
    );
    assert_eq!(order::Entity::find().all(&db).await.unwrap().len(), 1);
}
