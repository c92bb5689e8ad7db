//! The store in memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod harness;

mod failing;
mod outages;
mod pruning;
mod silent;
mod verbs_at_random;

use harness::Memory;

outbox_tests::conformance!(Memory);

mod dispatcher {
    use super::harness::Memory;
    outbox_tests::dispatcher_laws!(Memory);
}
