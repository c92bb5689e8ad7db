//! The shop from end to end, over HTTP.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod site;

mod orders;
mod idempotency;
mod contention;
mod context;
mod health;

// To copy into an application of one's own.
mod rollback;
mod handlers;
mod redelivery;
mod outage;

#[cfg(unix)]
mod shutdown;
