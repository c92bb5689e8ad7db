//! More events than the usual test has time for.

use super::harness::Postgres;
use outbox_tests::conformance::{Harness, atomic};

// B013
#[tokio::test]
async fn a_hundred_thousand_events_are_all_or_nothing_and_keep_their_order() {
    let harness = Postgres::<false>::fresh().await;
    atomic::a_hundred_thousand_events_are_all_or_nothing_and_keep_their_order(&harness).await;
}
