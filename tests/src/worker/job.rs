use super::{Conduct, book, deliver, emit, watchdog};
use crate::history::Log;
use outbox_core::CancellationToken;
use sea_orm::{ConnectOptions, Database, DatabaseConnection, DbErr};
use std::{error::Error, io::Read, path::Path};

/// What the process is to do, and where.
pub(super) struct Job {
    pub(super) mode: String,
    pub(super) db: DatabaseConnection,
    pub(super) log: Log,
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) conduct: Conduct,
    /// Cancelled at the end of the input.
    pub(super) end: CancellationToken,
}

/// Does what the arguments say, until the end of the input.
///
/// # Errors
/// When the arguments are wrong, or there is no database.
pub async fn run(arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = arguments.collect();
    let [mode, url, log, name, seed, conduct @ ..] = &arguments[..] else {
        return Err("outbox-worker MODE URL LOG NAME SEED [CONDUCT]".into());
    };
    let conduct = match conduct {
        [] => Conduct::default(),
        [conduct, ..] => serde_json::from_str(conduct)?,
    };
    let log = Log::open(Path::new(log), name);
    watchdog::start(&log, &conduct);
    let job = Job {
        mode: mode.clone(),
        // Handlers in transactions have all but two.
        db: open(url, if mode == "book" { 5 } else { 2 }).await?,
        log,
        name: name.clone(),
        seed: seed.parse()?,
        conduct,
        end: end_of_input(),
    };
    match mode.as_str() {
        "emit" => emit::run(job).await?,
        "book" => book::run(job).await?,
        _ => deliver::run(job).await?,
    }
    Ok(())
}

async fn open(url: &str, connections: u32) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).sqlx_logging(false);
    let mut tries = 0;
    loop {
        match Database::connect(options.clone()).await {
            // Its database may be away for a while.
            Err(_) if tries < 100 => tries += 1,
            result => return result,
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
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
