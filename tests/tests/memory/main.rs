//! The store in memory.

mod harness;

use harness::Memory;

outbox_tests::conformance!(Memory);
