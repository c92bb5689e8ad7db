//! The command line.

use clap::{Parser, ValueEnum};
use outbox_seaorm::BoxError;
use std::num::NonZeroUsize;

/// Measures the outbox through its public API, and plain SQL over the same columns with the same
/// driver and durability, by turns in one run. Prints one JSON line a result, and at the end a table
/// of the ratios.
///
/// It works in a schema, database or file of its own beside what the URL names, and removes it.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    /// What to measure.
    #[arg(value_name = "CASE", required = true)]
    pub(crate) cases: Vec<Case>,

    /// The server, or an SQLite file.
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: String,

    /// How many events (transactions, for `emit`) one measurement takes [default: as many as the
    /// case needs].
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<NonZeroUsize>,

    /// Over how many aggregates they are spread [default: 500, and for `drain` 50,000 too].
    #[arg(long, value_name = "N")]
    pub(crate) keys: Option<NonZeroUsize>,

    /// Events a fetch or a SELECT reads, or an `emit_all` gets [default: the dispatcher's own and
    /// 1,000; 10, 100 and 1,000].
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<NonZeroUsize>,

    /// Clients that emit at once [default: 1, 16 and 64].
    #[arg(long, value_name = "N")]
    pub(crate) clients: Option<NonZeroUsize>,

    /// The size of a payload.
    #[arg(long, value_name = "BYTES", default_value = "150")]
    pub(crate) payload: usize,

    /// How often everything is measured.
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) runs: NonZeroUsize,

    /// How many events wait in the large `backlog` [default: 1,000,000].
    #[arg(long, value_name = "N")]
    pub(crate) waiting: Option<NonZeroUsize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// Transactions a second of one business INSERT and one event.
    Emit,
    /// Events a second in batches.
    EmitAll,
    /// Events a second until a backlog is settled.
    Drain,
    /// From commit to the start of the handler.
    Latency,
    /// The drain and a fetch where much waits, is blocked, or cannot be cleaned up.
    Backlog,
    /// The memory that the process takes while it delivers.
    Memory,
}

impl Args {
    pub(crate) fn check(&self) -> Result<(), BoxError> {
        const LARGEST: usize = 1024 * 1024;
        if !(SMALLEST_PAYLOAD..=LARGEST).contains(&self.payload) {
            return Err(format!(
                "--payload {}: an event here has {SMALLEST_PAYLOAD} to {LARGEST} bytes",
                self.payload
            )
            .into());
        }
        if let (Some(events), Some(keys)) = (self.events, self.keys)
            && keys > events
        {
            return Err(format!("--keys {keys}: there are only {events} events").into());
        }
        Ok(())
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.get()
    }

    /// The number given, or this one.
    pub(crate) fn events_or(&self, default: usize) -> usize {
        self.events.map_or(default, NonZeroUsize::get)
    }

    /// The numbers of aggregates to measure with, no more than there are events.
    pub(crate) fn keys_or(&self, defaults: &[usize], events: usize) -> Vec<usize> {
        let mut keys = one_or(self.keys, defaults);
        keys.iter_mut().for_each(|keys| *keys = (*keys).min(events));
        keys.dedup();
        keys
    }

    pub(crate) fn batches_or(&self, defaults: &[usize]) -> Vec<usize> {
        one_or(self.batch, defaults)
    }

    pub(crate) fn clients_or(&self, defaults: &[usize]) -> Vec<usize> {
        one_or(self.clients, defaults)
    }
}

fn one_or(given: Option<NonZeroUsize>, defaults: &[usize]) -> Vec<usize> {
    given.map_or_else(|| defaults.to_vec(), |given| vec![given.get()])
}

/// `{"order_id":18446744073709551615,"note":""}`
pub(crate) const SMALLEST_PAYLOAD: usize = 43;
