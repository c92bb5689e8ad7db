//! Run it with `cargo run -p consumer`, and send it an event as often as you like:
//!
//! ```console
//! $ curl -i localhost:3001/events -H 'content-type: application/json' -d '{"order_id": "A-1",
//!     "status": "placed", "id": "01938f6e-7c3a-7000-8000-000000000001"}'
//! $ curl localhost:3001/orders/A-1
//! ```
//!
//! It gets the events of orders over HTTP, from the handler of a dispatcher elsewhere, and every one
//! at least once. It has two consumers, each with an inbox of its own: `orders` works in the database
//! of this process, `mails` calls a service outside.

mod mails;
mod orders;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, post},
};
use clap::Parser;
use outbox_seaorm::{BoxError, Inbox, Outbox, Retention, schema};
use sea_orm::{Database, DatabaseConnection};
use serde::Deserialize;
use std::{sync::Arc, time::Duration};
use tokio::{net::TcpListener, time::sleep};
use uuid::Uuid;

/// Receives the events of orders over HTTP.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where orders and inboxes are kept.
    #[arg(
        long,
        value_name = "URL",
        default_value = "sqlite://consumer.db?mode=rwc"
    )]
    database_url: String,

    /// Where to listen; port 0 is a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3001")]
    listen: String,

    /// The service that sends mails; without one they are only printed.
    #[arg(long, value_name = "URL")]
    mail_url: Option<String>,

    /// How long a mail may take, in seconds. After a crash it is sent again when they are over.
    #[arg(long, value_name = "S", default_value_t = 60)]
    mail_lease: u64,
}

/// What the routes share.
#[derive(Clone)]
struct App {
    db: DatabaseConnection,
    orders: Inbox,
    mails: Inbox,
    mail_url: Option<Arc<str>>,
}

/// What arrives.
#[derive(Debug, Clone, Deserialize)]
struct Event {
    /// The same each time it comes.
    id: Uuid,
    order_id: String,
    status: String,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let args = Args::parse();
    let db = Database::connect(&args.database_url).await?;
    schema::create(&db).await?;
    orders::create(&db).await?;
    let lease = Duration::from_secs(args.mail_lease);
    let app = App {
        orders: Inbox::new("orders")?,
        mails: Inbox::builder("mails").lease(lease).build()?,
        mail_url: args.mail_url.map(Into::into),
        db: db.clone(),
    };
    tokio::spawn(forget(db));
    let listener = TcpListener::bind(&args.listen).await?;
    eprintln!("listening on http://{}", listener.local_addr()?);
    let router = Router::new()
        .route("/events", post(receive))
        .route("/orders/{id}", get(show))
        .with_state(app);
    axum::serve(listener, router).await?;
    Ok(())
}

/// Anything but 200 means: send it again.
async fn receive(State(app): State<App>, Json(event): Json<Event>) -> StatusCode {
    let received = async {
        orders::receive(&app.db, &app.orders, &event).await?;
        mails::receive(&app, &event).await
    };
    received.await.unwrap_or_else(|error: BoxError| {
        eprintln!("event {} failed: {error}", event.id);
        StatusCode::INTERNAL_SERVER_ERROR
    })
}

async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<orders::Model>, StatusCode> {
    match orders::find(&app.db, &id).await {
        Ok(Some(order)) => Ok(Json(order)),
        Ok(None) => Err(StatusCode::NOT_FOUND),
        Err(_) => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// No dispatcher runs on this database that would do it.
async fn forget(db: DatabaseConnection) {
    loop {
        let pruned = Outbox::default().prune(&db, &Retention::default()).await;
        if let Err(error) = pruned {
            eprintln!("the inboxes could not be pruned: {error}");
        }
        sleep(Duration::from_secs(60 * 60)).await;
    }
}
