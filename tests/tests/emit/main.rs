//! Emitting, the tables and the migrations, on SQLite. The other databases run the same laws
//! where they have servers.

#![expect(clippy::unwrap_used, reason = "clippy does not see helpers as tests")]

mod support;
mod pattern;
mod transactions;
mod atomic;
mod invalid;
mod many;
mod stored;
mod statements;
mod failures;
mod hooks;
mod schema;
mod entities;
mod migrations;
