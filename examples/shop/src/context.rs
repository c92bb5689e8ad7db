//! What a request says about itself travels on with every event that it causes.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue},
    middleware::Next,
    response::Response,
};
use outbox_seaorm::{Context, Headers, headers};
use uuid::Uuid;

/// The request header that names the tenant. A real shop takes it from the caller's credentials.
pub const TENANT: &str = "x-tenant";
/// The request header that names the request; made up where it is missing.
pub const REQUEST_ID: &str = "x-request-id";

/// Opens a scope for the request: every event that is emitted in it carries these headers.
pub async fn events_carry(request: Request, next: Next) -> Response {
    let mut carried = Headers::new();
    for name in [headers::TRACEPARENT, headers::TRACESTATE] {
        if let Some(value) = text(request.headers(), name) {
            carried.set(name, value);
        }
    }
    let request_id = text(request.headers(), REQUEST_ID)
        .map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
    carried.set(headers::CORRELATION_ID, request_id.as_str());
    carried.set(headers::TENANT_ID, tenant(request.headers()));
    let mut response = Context::new(carried).scope(next.run(request)).await;
    if let Ok(value) = HeaderValue::try_from(request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// Whose orders a request is about.
pub fn tenant(headers: &HeaderMap) -> &str {
    text(headers, TENANT).unwrap_or("default")
}

/// A header that is text, and short enough to be stored.
pub fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get(name)?.to_str().ok()?;
    (1..=255).contains(&value.len()).then_some(value)
}
