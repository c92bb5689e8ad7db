//! What a request says about itself is on every event that it causes.

use crate::site::{Site, app, tea};
use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use outbox_seaorm::{headers, testing::assert_emitted};
use shop::{events::OrderEvent, routes};
use tower::ServiceExt;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn events_carry_trace_tenant_and_request() {
    let site = Site::start().await;
    let headers = [
        ("idempotency-key", "1"),
        ("traceparent", TRACE),
        ("x-tenant", "acme"),
        ("x-request-id", "request-7"),
    ];
    site.post(&headers, &tea()).await;
    let events = site.delivered().await;
    assert_eq!(events.len(), 3);
    for event in &events {
        assert_eq!(event.headers["traceparent"], TRACE);
        assert_eq!(event.headers["tenant_id"], "acme");
        assert_eq!(event.headers["correlation_id"], "request-7");
    }
    // The one that a handler emitted also tells which event it was for.
    let topic = |name| events.iter().find(|event| event.topic == name).unwrap();
    let (charge, paid) = (topic("payment.charge"), topic("order.paid"));
    assert_eq!(paid.headers["causation_id"], charge.id.to_string());
    assert!(charge.headers.get("causation_id").is_none());
    site.stop().await;
}

/// Without a server and a dispatcher: the events stay where they are.
#[tokio::test]
async fn a_request_without_an_id_gets_one() {
    let (app, _folder) = app().await;
    let request = Request::post("/orders")
        .header("idempotency-key", "1")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(tea().to_string()))
        .unwrap();
    let response = routes::router(app.clone()).oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    let id = response.headers()["x-request-id"].to_str().unwrap();

    assert_emitted!(
        &app.db,
        [OrderEvent::Charge(_), OrderEvent::Confirmation(_)]
    );
    let (request, tenant) = (headers::CORRELATION_ID, headers::TENANT_ID);
    assert_emitted!(&app.db, OrderEvent::Charge(_), request => id, tenant => "default");
    assert_emitted!(&app.db, OrderEvent::Confirmation(_), request => id, tenant => "default");
}
