//! What an orchestrator asks.

use axum::{Json, Router, extract::State, http::StatusCode, routing::get};
use outbox_seaorm::DispatcherHandle;
use sea_orm::DatabaseConnection;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

#[derive(Clone)]
struct Health {
    db: DatabaseConnection,
    dispatcher: DispatcherHandle,
}

/// `/health/live`, `/health/ready`, and `/health` for people.
pub fn router(db: DatabaseConnection, dispatcher: &DispatcherHandle) -> Router {
    Router::new()
        .route("/health", get(report))
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .with_state(Health {
            db,
            dispatcher: dispatcher.clone(),
        })
}

/// Fails when only a restart helps. The database is no part of it: a restart would not bring it
/// back.
async fn live(State(health): State<Health>) -> StatusCode {
    status(health.is_live())
}

/// Fails while no request should come here.
async fn ready(State(health): State<Health>) -> StatusCode {
    status(health.is_ready().await)
}

async fn report(State(health): State<Health>) -> (StatusCode, Json<Value>) {
    let ready = health.is_ready().await;
    let stats = health.dispatcher.stats();
    // Of this process. What stands in the outbox is had from `Operator::counts` and `oldest`.
    let report = json!({
        "live": health.is_live(),
        "ready": ready,
        "events": {
            "delivered": stats.delivered,
            "retried": stats.retried,
            "dead": stats.dead,
            "in_work": stats.in_work,
            "waiting_in_memory": stats.waiting,
            "of_unknown_topics": stats.unknown,
        },
    });
    (status(ready), Json(report))
}

impl Health {
    fn is_live(&self) -> bool {
        self.dispatcher.is_live()
    }

    async fn is_ready(&self) -> bool {
        let ping = timeout(Duration::from_secs(1), self.db.ping()).await;
        self.is_live() && matches!(ping, Ok(Ok(())))
    }
}

fn status(is_well: bool) -> StatusCode {
    if is_well {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}
