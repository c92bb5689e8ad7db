//! A process for the fault tests to kill, stop and start: a dispatcher, or an emitter.
//!
//! ```text
//! outbox-worker deliver|fail|hang URL LOG NAME SEED
//! outbox-worker emit URL LOG NAME SEED
//! ```
//!
//! Beside the outbox the database has the tables `account`, a row an aggregate, and `emitted`.
//!
//! It ends gracefully at the end of its input, and so with whoever started it.

mod deliver;
mod emit;

use outbox_seaorm::CancellationToken;
use outbox_tests::history::Log;
use sea_orm::{ConnectOptions, Database, DatabaseConnection, DbErr};
use std::{error::Error, io::Read, path::Path};

/// What the process is to do, and where.
struct Job {
    mode: String,
    db: DatabaseConnection,
    log: Log,
    seed: u64,
    /// Cancelled at the end of the input.
    end: CancellationToken,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [mode, url, log, name, seed] = &arguments[..] else {
        return Err("outbox-worker MODE URL LOG NAME SEED".into());
    };
    let job = Job {
        mode: mode.clone(),
        db: open(url).await?,
        log: Log::open(Path::new(log), name),
        seed: seed.parse()?,
        end: end_of_input(),
    };
    match mode.as_str() {
        "emit" => emit::run(job).await?,
        _ => deliver::run(job).await?,
    }
    Ok(())
}

async fn open(url: &str) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.max_connections(2).sqlx_logging(false);
    Database::connect(options).await
}

/// Reading blocks: on a thread that the end of the process does not wait for.
fn end_of_input() -> CancellationToken {
    let end = CancellationToken::new();
    let ended = end.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ended.cancel();
    });
    end
}
