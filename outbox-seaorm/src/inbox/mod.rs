//! Consumers that get an event twice and act on it once.
//!
//! At least once means twice some day: a process dies between the work and the answer, a broker or
//! an HTTP client sends again. An [`Inbox`] remembers in the consumer's own database what it has
//! received, in one of two forms:
//!
//! - [`Inbox::once`] for work in that database: the work and the record of it are one transaction.
//! - [`Inbox::begin`] for calls to the outside, which must not sit in a transaction.

mod message;
mod error;
mod statement;
mod settings;
mod once;
mod begin;

pub use begin::{Begun, Claim};
pub use error::{InboxError, InboxErrorKind};
pub use message::Message;
pub use once::Once;
pub use settings::{Inbox, InboxBuilder};
