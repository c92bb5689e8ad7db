//! The test kit: that it sees what there is, and that its assertions fail when they should.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod orders;

mod emitted;
mod round_trip;
mod recorder;
mod order;
mod faulty;
mod kinds;
mod drain;
