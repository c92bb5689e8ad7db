//! The conformance suite and what the fault tests share.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a suite of tests that stands in a library, so that every store can run it"
)]

pub mod history;
pub mod watched;
pub mod conformance;
pub mod servers;
mod proxy;
pub mod worker;

pub use proxy::Proxy;
