//! Behind pgbouncer, which gives a session to whoever has a transaction. B095.

use super::sleeper::{Sleeper, sleeping};
use crate::database::{self, Database};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::{
    conformance::Thing,
    servers::{PgBouncer, Pooling},
    watched::Watched,
};
use std::time::{Duration, Instant};

/// The connection that listens is given up, for nothing is heard on it, and polling goes on. Only this
/// goes through the pooler, so that it may be one that loses what is prepared; for all the rest see
/// the fleets of the fault tests.
#[tokio::test]
async fn behind_a_pooler_in_transaction_mode_it_polls() {
    let database = Database::hostile().await;
    let pooler = PgBouncer::start(database::port(), Pooling::Transaction);
    let db = database.open_through(pooler.port(), "", 1).await;
    let pooled = SeaOrmStore::new(&db, &database.outbox);
    let store = Watched::new(database.store()).listening_through(pooled);
    let poll = (Duration::from_millis(1), Duration::from_millis(50));
    let mut sleeper = Sleeper::over(store, poll);
    // For longer than it takes to know that nothing is heard.
    let end = Instant::now() + Duration::from_secs(8);
    let mut emitted = 0;
    while Instant::now() < end {
        emitted += 1;
        let text = format!("event {emitted}.");
        database.emit(Thing::said(&text)).await;
        sleeper.delivers(&text).await;
        assert_eq!(sleeping(&database).await, 0);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    sleeper.stop().await;
}
