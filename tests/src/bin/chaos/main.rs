//! Runs real dispatchers and writers, lets the faults of a seed befall them, waits until all is
//! settled and checks what the handlers wrote down.
//!
//! ```text
//! cargo run --release -p outbox-tests --bin chaos -- --database-url URL --dispatchers N \
//!     --writers N --aggregates N --events N --faults LIST --seed S [--lease-ms N] \
//!     [--restart-command CMD]
//! ```
//!
//! The database must be empty. The last line is one JSON object; the exit status is 1 if something
//! was lost, reordered or is unexplained, or if a fault of the list never struck while an event was
//! in work. The same executable is the processes: `chaos worker …`.

mod arguments;
mod fault;
mod address;
mod proxy;
mod clock;
mod database;
mod census;
mod tail;
mod process;
mod stage;
mod window;
mod operator;
mod strikes;
mod director;
mod kept;
mod counts;
mod verdict;

use clap::Parser;
use std::{error::Error, process::ExitCode};

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let result = match words.next().as_deref() {
        Some("worker") => outbox_tests::worker::run(words).await.map(|()| true),
        _ => play().await,
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("chaos: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all went as it must.
async fn play() -> Result<bool, Box<dyn Error>> {
    let arguments = arguments::Arguments::parse();
    arguments.check()?;
    // Dropped either way, and with it every process.
    let stage = stage::Stage::new(arguments).await?;
    tokio::select! {
        result = director::play(&stage) => result?,
        _ = tokio::signal::ctrl_c() => return Err("interrupted".into()),
    }
    let verdict = verdict::Verdict::of(&stage).await?;
    verdict.tell(&stage);
    Ok(verdict.is_good())
}
