//! The event contract, the dispatcher and the in-memory store of
//! [outbox-seaorm](https://docs.rs/outbox-seaorm).
//!
//! Applications use the crate `outbox-seaorm`, which re-exports what they need from here. A domain
//! crate that only declares events may depend on this one alone: it knows no database.

// In reading order: an event is declared, emitted, stored, dispatched and handled.
mod error;
mod text;
mod instant;
mod event;
pub mod headers;
#[cfg(feature = "schema")]
pub mod contract;
mod emit;
mod wake;
pub mod store;
mod envelope;
mod handler;
mod retry;
pub mod operator;
mod dispatcher;
mod memory;
#[cfg(feature = "testing")]
pub mod testing;

pub use async_trait::async_trait;
pub use dispatcher::{
    Archive, BuildError, Config, Dispatcher, DispatcherBuilder, DispatcherHandle, OnDead, Redact,
    Retention, Stats, Summary, TopicConfig, TopicOptions, Unhandled, prune,
};
pub use emit::{
    Context, Dedupe, Draft, Due, EmitOptions, Emitted, IntoDraft, InvalidEvent, InvalidEventKind,
    Limits, NewEvent,
};
pub use envelope::Envelope;
pub use error::BoxError;
pub use event::{Catalogue, Clash, Contract, DecodeError, OutboxEvent, Shape, Topic, TopicSpec};
pub use handler::{
    BatchHandler, Delivery, Handler, HandlerError, LendTo, MissingState, Outcome, Publisher,
    TransactionalHandler, Wish,
};
pub use headers::{HeaderValue, Headers};
pub use memory::{DeadLetter, DelayedEvent, MemoryStore, PendingEvent};
pub use operator::Operator;
#[cfg(feature = "derive")]
#[doc = include_str!("../docs/derive.md")]
pub use outbox_derive::OutboxEvent;
pub use retry::{InvalidRetryPolicy, RetryPolicy};
pub use tokio_util::sync::CancellationToken;
pub use wake::Wake;

/// What the code written by the derive calls. Not for use by hand.
#[doc(hidden)]
pub mod __private;
