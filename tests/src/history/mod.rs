//! What happened, as the handlers themselves wrote it down, and whether it may have happened so.
//!
//! A [`Log`] is an append-only file: one line a record, one `write` a line, so that several
//! processes share it and a killed one leaves no half lines. [`History::check`] reads nothing else:
//! what a dispatcher believes does not count.

mod record;
mod log;
mod run;
mod violation;
mod window;
mod attempts;
mod runs;
mod check;
#[cfg(test)]
mod tests;

pub use check::{History, Report};
pub use log::Log;
pub use record::{Record, What};
pub use run::Run;
pub use violation::{Rule, Violation};
