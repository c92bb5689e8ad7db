//! The processes of the fault tests: a dispatcher, or an emitter.
//!
//! ```text
//! outbox-worker deliver|fail|hang|block|abort|overflow|book URL LOG NAME SEED [CONDUCT]
//! outbox-worker emit URL LOG NAME SEED [CONDUCT]
//! ```
//!
//! Beside the outbox the database has the [`tables`] of the application. A process ends gracefully
//! at the end of its input, and so with whoever started it.

mod conduct;
mod tables;
mod job;
mod watchdog;
mod deliver;
mod book;
mod emit;

pub use conduct::Conduct;
pub use deliver::DEADLY;
pub use job::run;
pub use tables::{Kind, accounts, tables};
