//! The web server and the dispatcher, side by side in one process.

use crate::{gateway::Gateway, handlers, health, mailer::Mailer, routes, stop::Stop};
use outbox_seaorm::{BoxError, CancellationToken};
use sea_orm::DatabaseConnection;
use std::{future::IntoFuture, sync::Arc};
use tokio::net::TcpListener;

/// What requests and handlers work with. Cheap to clone.
#[derive(Clone)]
pub struct App {
    /// The shop's tables and the outbox.
    pub db: DatabaseConnection,
    /// Who takes the customers' money.
    pub gateway: Arc<dyn Gateway>,
    /// Who sends mails.
    pub mailer: Arc<dyn Mailer>,
}

/// Serves until it is asked to stop, and returns when everything has stopped in order.
///
/// # Errors
/// When the dispatcher's settings are wrong, or the server failed.
pub async fn serve(app: App, listener: TcpListener, stop: Stop) -> Result<(), BoxError> {
    let dispatcher = handlers::dispatcher(&app).spawn(CancellationToken::new())?;
    let routes = routes::router(app.clone()).merge(health::router(app.db, &dispatcher));

    // The server goes first: the requests under way may still emit.
    let server = axum::serve(listener, routes)
        .with_graceful_shutdown(stop.first.cancelled_owned())
        .into_future();
    let served = stop.second.run_until_cancelled(server).await;

    // Then the dispatcher: handlers finish, and their outcomes are written.
    let stopped = dispatcher.shutdown();
    if stop.second.run_until_cancelled(stopped).await.is_none() {
        dispatcher.hurry();
        dispatcher.wait().await;
    }
    Ok(served.unwrap_or(Ok(()))?)
}
