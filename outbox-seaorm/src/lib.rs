#![doc = include_str!("../README.md")]

// In reading order: settings and tables, then an event is emitted, looked at and delivered.
mod db_error;
mod clock;
mod outbox;
pub mod schema;
mod claim;
mod wake;
mod transaction;
mod whole;
mod emit;
pub mod inbox;
pub mod entity;
pub mod store;
pub mod operator;
mod dispatcher;
pub mod consumers;
#[cfg(feature = "testing")]
pub mod testing;

pub use dispatcher::Dispatcher;
pub use emit::{
    Emit, EmitAll, EmitError, EmitErrorKind, EmitOne, InTransaction, MaybeInTransaction,
};
pub use inbox::Inbox;
pub use operator::Operator;
pub use outbox::{Outbox, OutboxBuilder};
pub use schema::{InvalidName, Names};
pub use store::{History, Position, SeaOrmStore, StoreError, StoreErrorKind};
pub use transaction::{begin_immediate, is_contention};

// From outbox-core: the event contract, …
#[cfg(feature = "schema")]
pub use outbox_core::contract;
pub use outbox_core::{
    BoxError, Catalogue, Clash, Context, Contract, DecodeError, Dedupe, Draft, Due, EmitOptions,
    Emitted, HeaderValue, Headers, IntoDraft, InvalidEvent, InvalidEventKind, Limits, NewEvent,
    OutboxEvent, Shape, Topic, TopicSpec, headers,
};
// … and delivery.
pub use outbox_core::{
    Archive, BatchHandler, BuildError, CancellationToken, Config, Delivery, DispatcherBuilder,
    DispatcherHandle, Envelope, Handler, HandlerError, InvalidRetryPolicy, MissingState, OnDead,
    Outcome, Publisher, Redact, Retention, RetryPolicy, Stats, Summary, TopicConfig, TopicOptions,
    TransactionalHandler, Unhandled, Wish, async_trait,
};

/// What the code written by the derive calls. Not for use by hand.
#[doc(hidden)]
pub use outbox_core::__private;
