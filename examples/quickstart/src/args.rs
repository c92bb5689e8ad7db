//! The command line.

use clap::Parser;
use std::{num::NonZeroU32, path::PathBuf, time::Duration};

/// Imports orders and delivers their events to a card service, a mail server and a carrier, all of
/// them pretended. Stop it at any moment, even with `kill -9`: started again, it finishes the rest.
///
/// Exit status: 0 when every event was delivered or is a dead letter; 1 when one was lost; 2 when
/// it could not do its work, or the input has lines and not one of them is an order; 130 when it
/// was stopped by Ctrl-C or SIGTERM with work left.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    /// Orders, one JSON object a line; `-` is standard input [default: the shipped file].
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,

    /// Where the orders and the outbox are kept.
    #[arg(
        long,
        value_name = "URL",
        default_value = "sqlite://quickstart.db?mode=rwc"
    )]
    pub(crate) database_url: String,

    /// How many connections the pool may open.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) connections: NonZeroU32,

    /// How long each of the pretended services takes, in milliseconds.
    #[arg(long, value_name = "MS", default_value = "10", value_parser = milliseconds)]
    pub(crate) latency: Duration,
}

fn milliseconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_millis)
}
