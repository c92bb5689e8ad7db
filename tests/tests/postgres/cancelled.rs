//! Futures that are dropped while the server, far away, does what they asked for.

use super::{
    database::{self, Database},
    harness::Postgres,
};
use outbox_tests::{
    Proxy,
    conformance::{Tables, cancelled::drop_at_random},
};
use std::time::Duration;

// B030
#[tokio::test]
async fn what_is_dropped_on_a_slow_network_is_whole_or_never_was() {
    let database = Database::plain().await;
    let proxy = Proxy::slow(database::port(), Duration::from_millis(5)).await;
    let pool = database.open_through(proxy.port, "", 1).await;
    let tables = Tables::new(&pool, &database.outbox);
    let harness: Postgres<false> = Postgres(database);
    drop_at_random(&harness, &tables, 1, 24).await;
    let left = harness.0.sessions("state LIKE 'idle in transaction%'");
    assert_eq!(left.await, 0);
}
