//! What the handlers do with an order, and orders that are refused.

use crate::site::{Site, tea};
use outbox_seaorm::entity::event;
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::json;
use shop::entities::{mail, order, payment, shipment};

#[tokio::test]
async fn an_order_is_paid_mailed_and_shipped() {
    let site = Site::start().await;
    let placed = site.order("1", &tea()).await;
    assert_eq!(
        (placed.status, &placed.body["total_cents"]),
        (201, &json!(900))
    );

    site.until(&placed, "shipped").await;
    let events = site.delivered().await;
    let mut topics: Vec<_> = events.iter().map(|event| &*event.topic).collect();
    topics.sort_unstable();
    assert_eq!(
        topics,
        ["mail.confirmation", "order.paid", "payment.charge"]
    );
    assert_eq!(payment::Entity::find().count(site.db()).await.unwrap(), 1);
    assert_eq!(mail::Entity::find().count(site.db()).await.unwrap(), 1);
    assert_eq!(shipment::Entity::find().count(site.db()).await.unwrap(), 1);
    site.stop().await;
}

#[tokio::test]
async fn an_order_that_the_bank_declines_is_not_shipped() {
    let site = Site::start().await;
    let mut order = tea();
    order["quantity"] = json!(1_000);
    let placed = site.order("1", &order).await;
    site.until(&placed, "declined").await;
    let events = site.delivered().await;
    assert!(events.iter().any(|event| event.topic == "order.declined"));
    assert_eq!(events.len(), 3);
    assert_eq!(payment::Entity::find().count(site.db()).await.unwrap(), 0);
    site.stop().await;
}

#[tokio::test]
async fn an_invalid_order_leaves_nothing() {
    let site = Site::start().await;
    let changes = [
        ("quantity", json!(0), 422),
        ("quantity", json!("two"), 422),
        ("mail", json!("nobody"), 422),
        ("mail", json!("a@b\u{0}"), 422),
        ("address", json!(" "), 422),
        ("item", json!("moon"), 422),
        ("colour", json!("red"), 422),
    ];
    for (name, value, status) in changes {
        let mut order = tea();
        order[name] = value;
        let refused = site.order("1", &order).await;
        assert_eq!(refused.status, status, "{name}: {refused:?}");
        assert!(refused.body["error"].is_string(), "{name}: {refused:?}");
    }
    let without_key = site.post(&[], &tea()).await;
    assert_eq!(without_key.status, 400);

    assert_eq!(order::Entity::find().count(site.db()).await.unwrap(), 0);
    assert_eq!(event::Entity::find().count(site.db()).await.unwrap(), 0);
    assert!(site.delivered().await.is_empty());
    site.stop().await;
}

#[tokio::test]
async fn an_order_is_its_tenants_own() {
    let site = Site::start().await;
    let headers = [("idempotency-key", "1"), ("x-tenant", "acme")];
    let placed = site.post(&headers, &tea()).await;
    let path = format!("/orders/{}", placed.body["id"].as_str().unwrap());
    assert_eq!(site.get(&path).await.status, 404);
    let other = site.order("1", &tea()).await;
    assert_ne!(other.body["id"], placed.body["id"]);
    assert_eq!(site.get("/orders/what").await.status, 404);
    site.stop().await;
}
