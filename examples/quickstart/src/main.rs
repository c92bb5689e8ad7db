//! `cargo run -p quickstart`: imports orders and delivers their events; `--help` says more.

mod args;
mod input;
mod events;
mod model;
mod order;
mod database;
mod import;
mod handlers;
mod report;
mod progress;
mod stop;

use args::Args;
use clap::Parser;
use import::Tally;
use input::Line;
use outbox_seaorm::{BoxError, CancellationToken};
use report::Report;
use sea_orm::DatabaseConnection;
use std::{
    io::{self, Write},
    process::ExitCode,
};
use tokio::sync::mpsc::Receiver;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(status) => status,
        Err(error) => {
            eprintln!("quickstart: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(args: Args) -> Result<ExitCode, BoxError> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()))
        .with_writer(io::stderr)
        .init();
    let lines = input::lines(args.input.as_deref())?;
    let stop = stop::on_signal()?;
    let db = database::open(&args.database_url, args.connections).await?;
    progress::announce_wait(&db).await?;

    // It delivers what earlier runs have left while the import goes on.
    let dispatcher = handlers::start(&db, args.latency, stop.clone())?;
    let done = work(&db, lines, &stop).await;
    dispatcher.shutdown().await;
    let (tally, report) = done?;

    if !tally.complete || report.pending() > 0 {
        let pending = report.pending();
        eprintln!("stopped: {pending} events wait in the outbox, start it again to go on");
        return Ok(ExitCode::from(130));
    }
    writeln!(io::stdout(), "{report}")?;
    Ok(if report.is_wrong() {
        ExitCode::FAILURE
    } else if tally.is_useless() {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    })
}

async fn work(
    db: &DatabaseConnection,
    lines: Receiver<Line>,
    stop: &CancellationToken,
) -> Result<(Tally, Report), BoxError> {
    let tally = progress::shown(db, import::run(db, lines, stop)).await?;
    eprintln!("{tally}");
    let report = progress::shown(db, Report::settled(db, stop)).await?;
    Ok((tally, report))
}
