//! What an application needs to test its events, through the same code as production.
//!
//! The feature `testing` brings it. Nothing here runs in a service.

mod emitted;
mod test_store;
mod memory;
mod round_trip;
mod accept;
mod recorder;
mod faulty;
mod drain;

pub use crate::{assert_emitted, refute_emitted};
pub use accept::Accept;
pub use drain::{Drained, EventOutcome};
#[doc(hidden)]
pub use emitted::check;
pub use emitted::{EmittedEvent, EmittedEvents, Expected, Found, Mismatch, Step};
pub use faulty::Faulty;
pub use recorder::{Disorder, Ending, NotSeen, Recorded, Recorder, Rule, Seen, Wanted};
pub use round_trip::{RoundTripError, round_trip};
pub use test_store::TestStore;
