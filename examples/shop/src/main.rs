//! Run it with `cargo run -p shop`, and order something:
//!
//! ```console
//! $ curl -i localhost:3000/orders -H 'idempotency-key: 1' -H 'content-type: application/json' \
//!     -d '{"mail": "ada@example.com", "address": "1 Main Street", "item": "tea", "quantity": 2}'
//! $ curl localhost:3000/orders/<id of the answer>
//! ```

use clap::Parser;
use outbox_seaorm::BoxError;
use shop::{
    app::{self, App},
    database,
    gateway::FakeGateway,
    mailer::FakeMailer,
    stop,
};
use std::{io, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tracing::info;
use tracing_subscriber::EnvFilter;

/// Takes orders over HTTP, and charges, mails and ships them in the background.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where the orders and the outbox are kept; `postgres://…` with the feature `postgres`.
    #[arg(long, value_name = "URL", default_value = "sqlite://shop.db?mode=rwc")]
    database_url: String,

    /// Where to listen; port 0 is a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000")]
    listen: String,

    /// How long the pretended payment gateway takes, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 50)]
    gateway_latency: u64,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let args = Args::parse();
    // `RUST_LOG=shop=debug,outbox_core=debug` shows more.
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()))
        .with_writer(io::stderr)
        .init();
    // Before anything else: a signal is heard from here on.
    let stop = stop::on_signals()?;
    let app = App {
        db: database::open(&args.database_url).await?,
        gateway: Arc::new(FakeGateway::new(Duration::from_millis(
            args.gateway_latency,
        ))),
        mailer: Arc::new(FakeMailer::default()),
    };
    let listener = TcpListener::bind(&args.listen).await?;
    info!("listening on http://{}", listener.local_addr()?);
    app::serve(app, listener, stop).await?;
    info!("stopped");
    Ok(())
}
