//! The connection that listens, when it is lost. B093.

use super::sleeper::{EVER, Sleeper, asleep};
use crate::database::{self, Database};
use outbox_tests::{Proxy, conformance::Thing};
use sea_orm::TransactionTrait;
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// The sessions of this test that listen, but for one.
const LISTENING: &str = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %' \
    AND application_name = current_setting('application_name') AND pid <>";

/// A commit falls before its end, or into the time until there is another one, for which there may be
/// no connection at once.
#[tokio::test]
async fn nothing_is_lost_with_a_connection_that_is_ended() {
    let database = Database::plain().await;
    let db = database.open_again(2).await;
    // Who has just said that it sleeps looks once more soon.
    let poll = (Duration::from_millis(10), EVER);
    let mut sleeper = Sleeper::polling(&database, &db, poll);
    let mut chance = fastrand::Rng::with_seed(93);
    // What was ended is still seen for a moment.
    let mut ended = 0;
    for round in 0..50 {
        ended = listening(&database, ended).await;
        asleep(&database, 1).await;
        let text = format!("round {round}.");
        let taken = match round % 5 {
            0 => vec![db.begin().await.unwrap(), db.begin().await.unwrap()],
            _ => Vec::new(),
        };
        if round % 2 == 0 {
            database.emit(Thing::said(&text)).await;
        }
        assert!(end(&database, ended).await);
        if round % 2 == 1 {
            tokio::time::sleep(Duration::from_millis(chance.u64(..300))).await;
            database.emit(Thing::said(&text)).await;
        }
        if !taken.is_empty() {
            tokio::time::sleep(Duration::from_millis(chance.u64(..300))).await;
        }
        drop(taken);
        sleeper.delivers(&text).await;
    }
    listening(&database, ended).await;
    sleeper.stop().await;
}

/// Of those who emit all the time, with lulls in which the dispatcher falls asleep.
#[tokio::test]
async fn nothing_is_lost_under_load_while_connections_are_ended() {
    let database = Arc::new(Database::plain().await);
    let poll = (Duration::from_millis(10), EVER);
    let mut sleeper = Sleeper::polling(&database, &database.db, poll);
    let (ends, ended) = watch::channel(false);
    let emitters = ["a", "b"].map(|key| {
        let (database, ended) = (Arc::clone(&database), ended.clone());
        tokio::spawn(async move {
            let mut chance = fastrand::Rng::with_seed(key.len() as u64);
            let mut emitted = Vec::new();
            while !*ended.borrow() {
                let text = format!("{key} {}.", emitted.len());
                database.emit(Thing::of(key, &text)).await;
                emitted.push(text);
                let pause = match chance.u8(..30) {
                    0 => chance.u64(..500),
                    _ => chance.u64(..20),
                };
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            emitted
        })
    });
    let mut last = 0;
    for _ in 0..50 {
        last = listening(&database, last).await;
        end(&database, last).await;
    }
    ends.send_replace(true);
    for emitter in emitters {
        for text in emitter.await.unwrap() {
            sleeper.has_delivered(&text).await;
        }
    }
    sleeper.stop().await;
}

/// Ends the session that listens; `false` when it was not there any more.
async fn end(database: &Database, session: i32) -> bool {
    let sql = format!("SELECT pg_terminate_backend({session})::int::bigint AS n");
    database.number(&sql).await == 1
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
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never again");
}
