//! What the shop answers to.

use crate::{
    app::App,
    context::{self, tenant},
    error::Error,
    orders::{self, NewOrder, View},
};
use axum::{
    Json, Router,
    extract::{
        Path, State,
        rejection::{JsonRejection, PathRejection},
    },
    http::{HeaderMap, StatusCode, header},
    middleware,
    response::IntoResponse,
    routing::{get, post},
};
use serde_json::json;
use uuid::Uuid;

/// The routes of customers.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/orders", post(place))
        .route("/orders/{id}", get(show))
        .layer(middleware::from_fn(context::events_carry))
        .with_state(app)
}

async fn place(
    State(app): State<App>,
    headers: HeaderMap,
    order: Result<Json<NewOrder>, JsonRejection>,
) -> Result<impl IntoResponse, Error> {
    let Some(key) = context::text(&headers, "idempotency-key") else {
        let why = "the header `Idempotency-Key` is missing or too long";
        return Err(Error::Unreadable(StatusCode::BAD_REQUEST, why.to_owned()));
    };
    let Json(order) = order?;
    let placed = orders::place(&app.db, tenant(&headers), key, &order).await?;
    // Nothing that changes later: the same request has the same answer.
    let answer = json!({ "id": placed.id, "total_cents": placed.total_cents });
    let location = [(header::LOCATION, format!("/orders/{}", placed.id))];
    Ok((StatusCode::CREATED, location, Json(answer)))
}

async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    id: Result<Path<Uuid>, PathRejection>,
) -> Result<Json<View>, Error> {
    let Path(id) = id?;
    let view = orders::find(&app.db, tenant(&headers), id).await?;
    Ok(Json(view))
}
