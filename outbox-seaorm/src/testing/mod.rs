#![doc = include_str!("../../docs/testing.md")]

mod emitted;
mod time;
mod store;
mod macros;

pub use crate::{assert_emitted, refute_emitted};
pub use emitted::{On, ReadEmitted};
#[doc(hidden)]
pub use outbox_core::{__assert_emitted, testing::check};
pub use outbox_core::{
    MemoryStore,
    testing::{
        Accept, Disorder, Drained, EmittedEvent, EmittedEvents, Ending, EventOutcome, Expected,
        Faulty, Found, Mismatch, NotSeen, Recorded, Recorder, RoundTripError, Rule, Seen, Step,
        TestStore, Wanted, round_trip,
    },
};
pub use time::advance;

/// Delivers from the outbox in memory: see [`MemoryStore`].
pub type MemoryDispatcher = outbox_core::Dispatcher<MemoryStore>;
