//! The connection that listens, when it is lost. B093.

use super::sleeper::{Sleeper, asleep};
use crate::database::{self, Database};
use outbox_tests::{Proxy, conformance::Thing};

/// The sessions of this test that listen, but for one.
const LISTENING: &str = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %' \
    AND application_name = current_setting('application_name') AND pid <>";

#[tokio::test]
async fn nothing_is_lost_with_a_connection_that_is_ended() {
    let database = Database::plain().await;
    let mut sleeper = Sleeper::start(&database, &database.db);
    // What was ended is still seen for a moment.
    let mut ended = 0;
    for round in 0..5 {
        ended = listening(&database, ended).await;
        asleep(&database, 1).await;
        let text = format!("round {round}");
        if round % 2 == 0 {
            database.emit(Thing::said(&text)).await;
        }
        let sql = format!("SELECT pg_terminate_backend({ended})::int::bigint AS n");
        assert_eq!(database.number(&sql).await, 1);
        if round % 2 == 1 {
            database.emit(Thing::said(&text)).await;
        }
        sleeper.delivers(&text).await;
    }
    listening(&database, ended).await;
    sleeper.stop().await;
}

/// Half open: neither side is told.
#[tokio::test]
async fn nothing_is_lost_with_a_connection_that_is_silent() {
    let database = Database::plain().await;
    let proxy = Proxy::start(database::port(), b"LISTEN \"").await;
    let db = database.open_through(proxy.port, "", 2).await;
    let mut sleeper = Sleeper::start(&database, &db);
    asleep(&database, 1).await;
    proxy.silence();
    database.emit(Thing::said("one")).await;
    sleeper.delivers("one").await;
    sleeper.stop().await;
}

/// Waits for the session that listens, which is not the one that was ended.
async fn listening(database: &Database, ended: i32) -> i32 {
    let sql = format!("{LISTENING} {ended}");
    for _ in 0..6000 {
        if let Some(row) = database.query(&sql).await.first() {
            return row.try_get("", "pid").unwrap();
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("never again");
}
