//! Futures that are dropped while the server, far away, does what they asked for.

use super::harness::MariaDb;
use outbox_tests::{
    Proxy,
    conformance::{Harness, Tables, as_advised, cancelled::drop_at_random},
};
use std::time::Duration;

// B030
#[tokio::test]
async fn what_is_dropped_on_a_slow_network_is_whole_or_never_was() {
    let harness = MariaDb::fresh().await;
    let proxy = Proxy::slow(harness.0.port(), Duration::from_millis(5)).await;
    let pool = as_advised(&harness.0.open_through(proxy.port, 1).await).await;
    let tables = Tables::new(&pool, &harness.0.outbox);
    drop_at_random(&harness, &tables, 1, 12).await;
}
