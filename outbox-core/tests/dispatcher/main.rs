//! The dispatcher on the store in memory, in virtual time.

mod build;
mod failures;
mod membership;
mod order;
mod outage;
mod publisher;
mod shutdown;
mod support;
mod topics;
