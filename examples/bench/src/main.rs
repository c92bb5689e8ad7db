//! `cargo run --release -p bench -- drain --database-url URL`: what the outbox costs, against plain
//! SQL in the same run; `--help` says more.

mod args;
mod event;
mod ground;
mod report;
mod plain;
mod product;
mod case;
mod stop;

use args::Args;
use clap::Parser;
use ground::Ground;
use outbox_seaorm::BoxError;
use report::Report;
use std::{io, process::ExitCode};
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(args: Args) -> Result<(), BoxError> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "error".into()))
        .with_writer(io::stderr)
        .init();
    args.check()?;
    let ground = Ground::new(&args.database_url).await?;
    let mut report = Report::new(&ground.name());
    // Whatever happens, what was made is removed.
    let done = tokio::select! {
        done = case::run_all(&args, &ground, &mut report) => done,
        stopped = stop::signal() => Err(stopped.map_or_else(Into::into, |()| "stopped".into())),
    };
    ground.remove().await?;
    print!("{}", report.table());
    done
}
