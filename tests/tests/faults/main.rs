//! Processes that are killed and stopped, on SQLite in a file. What happened is read from what
//! their handlers wrote down.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod site;
mod process;

mod kills;
mod freezes;
mod emitters;
