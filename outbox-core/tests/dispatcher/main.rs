//! The dispatcher on the store in memory, in virtual time.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod budget;
mod build;
mod failures;
mod fairness;
mod faults;
mod faulty;
mod logs;
mod membership;
mod order;
mod outage;
mod patience;
mod publisher;
mod shutdown;
mod support;
mod topics;
mod versions;
