use super::{address::Address, fault::Fault};
use clap::Parser;
use std::time::Duration;

/// Dispatchers and writers under fire.
#[derive(Debug, Clone, Parser)]
#[command(name = "chaos")]
pub(crate) struct Arguments {
    /// An empty database: postgres://, mysql:// or sqlite://.
    #[arg(long)]
    pub(crate) database_url: String,
    /// How many dispatchers there are, more or less.
    #[arg(long, default_value_t = 3)]
    pub(crate) dispatchers: usize,
    /// How many processes emit.
    #[arg(long, default_value_t = 2)]
    pub(crate) writers: usize,
    /// How many aggregates they emit about.
    #[arg(long, default_value_t = 60)]
    pub(crate) aggregates: u32,
    /// How many events they emit together.
    #[arg(long, default_value_t = 3_000)]
    pub(crate) events: u64,
    /// Which faults, with commas: kill, freeze, disconnect, restart, slow, hang, panic, rollback,
    /// late, scale, clock, operator.
    #[arg(long, value_delimiter = ',', required = true)]
    pub(crate) faults: Vec<Fault>,
    /// Decides what happens, and when.
    #[arg(long)]
    pub(crate) seed: u64,
    /// The dispatchers' lease.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) lease_ms: u64,
    /// Restarts the database server, for `restart`: run by sh, returns when the server is back.
    #[arg(long)]
    pub(crate) restart_command: Option<String>,
    /// For how long events are emitted, at least; by default as long as the events suggest.
    #[arg(long)]
    pub(crate) seconds: Option<u64>,
}

impl Arguments {
    /// Whether all this can be done together.
    pub(crate) fn check(&self) -> Result<(), String> {
        let has = |fault| self.faults.contains(&fault);
        if self.dispatchers == 0 || self.writers == 0 || self.aggregates == 0 || self.events == 0 {
            return Err("dispatchers, writers, aggregates and events must be at least 1".into());
        }
        if has(Fault::Restart) && self.restart_command.is_none() {
            return Err("the fault restart needs --restart-command".into());
        }
        if self.is_sqlite() {
            for fault in [Fault::Disconnect, Fault::Restart] {
                if has(fault) {
                    return Err(format!("the fault {fault} needs a server: SQLite has none"));
                }
            }
            if has(Fault::Clock) {
                return Err(
                    "the fault clock needs a server: SQLite's clock is the process's".into(),
                );
            }
            return Ok(());
        }
        Address::of(&self.database_url)?;
        Ok(())
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.database_url.starts_with("sqlite:")
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    pub(crate) fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }

    /// How long the writers take for their events: time for each fault to strike a few times.
    pub(crate) fn duration(&self) -> Duration {
        let by_events = self.events / 150;
        Duration::from_secs(self.seconds.unwrap_or(by_events)).max(self.lease() * 4)
    }
}
