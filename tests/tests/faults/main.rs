//! Processes that are killed and stopped: on SQLite in a file, and fleets of them on the servers.
//! What happened is read from what their handlers wrote down.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod server;
mod watch;
mod site;
mod process;

mod kills;
mod crashes;
mod freezes;
mod failover;
mod bookings;
mod emitters;
mod clocks;
mod fleets;
mod chaos;
