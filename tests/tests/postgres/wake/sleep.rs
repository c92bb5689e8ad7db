//! Dispatchers that sleep.

use super::{
    ear::Ear,
    sleeper::{EVER, Sleeper, asleep, sleeping},
};
use crate::database::Database;
use outbox_seaorm::{Outbox, schema};
use outbox_tests::conformance::Thing;
use sea_orm::TransactionTrait;
use std::time::Duration;

#[tokio::test]
async fn a_commit_wakes_a_dispatcher_that_sleeps() {
    for database in [Database::plain().await, Database::hostile().await] {
        let db = database.open_again(2).await;
        let mut sleeper = Sleeper::start(&database, &db);
        asleep(&database, 1).await;
        for text in ["one", "two", "three"] {
            database.emit(Thing::said(text)).await;
            sleeper.delivers(text).await;
        }
        sleeper.stop().await;
        assert_eq!(sleeping(&database).await, 0);
    }
}

#[tokio::test]
async fn a_delayed_event_wakes_it_when_it_is_due() {
    let database = Database::plain().await;
    let mut sleeper = Sleeper::start(&database, &database.db);
    asleep(&database, 1).await;
    for delay in [300, 10] {
        let text = format!("after {delay}");
        let delay = Duration::from_millis(delay);
        database.emit(Thing::said(&text).after(delay)).await;
        sleeper.delivers(&text).await;
    }
    sleeper.stop().await;
}

/// Interleaving 19: who was in the middle of a transaction when it was said that somebody sleeps,
/// and has emitted before, wakes nobody.
#[tokio::test]
async fn a_writer_from_before_it_was_said_is_waited_for() {
    let database = Database::plain().await;
    let mut ear = Ear::of(&database).await;
    let writer = database.db.begin().await.unwrap();
    let event = Thing::said("one");
    database.outbox.emit(&writer, event).await.unwrap();
    let poll = (Duration::from_millis(10), EVER);
    let mut sleeper = Sleeper::polling(&database, &database.db, poll);
    asleep(&database, 1).await;
    writer.commit().await.unwrap();
    assert_eq!(ear.take_wakes(&database).await, 0);
    sleeper.delivers("one").await;
    sleeper.stop().await;
}

/// B096: to notify makes commits wait for each other.
#[tokio::test]
async fn who_has_a_lot_to_do_does_not_sleep() {
    let database = Database::plain().await;
    let poll = (Duration::from_millis(1), Duration::from_millis(200));
    let mut sleeper = Sleeper::polling(&database, &database.db, poll);
    asleep(&database, 1).await;
    let mut emitted = 0;
    while sleeping(&database).await > 0 {
        assert!(emitted < 10_000, "still asleep");
        emitted += 1;
        database.emit(Thing::said("much")).await;
        sleeper.delivers("much").await;
    }
    // And when it has nothing to do any more, it does.
    asleep(&database, 1).await;
    sleeper.stop().await;
}

#[tokio::test]
async fn without_the_trigger_it_polls_and_never_says_that_it_sleeps() {
    let database = Database::empty().await;
    let polled = Outbox::builder().polled_only().build().unwrap();
    schema::create_with(&polled, &database.db).await.unwrap();
    let poll = (Duration::from_millis(1), Duration::from_millis(20));
    let mut sleeper = Sleeper::polling(&database, &database.db, poll);
    for text in ["one", "two", "three"] {
        database.emit(Thing::said(text)).await;
        sleeper.delivers(text).await;
    }
    assert_eq!(sleeping(&database).await, 0);
    sleeper.stop().await;
}

/// It listens on another one.
#[tokio::test]
async fn a_pool_of_one_connection_is_enough() {
    let database = Database::plain().await;
    let narrow = database.open_again(1).await;
    let mut sleeper = Sleeper::start(&database, &narrow);
    asleep(&database, 1).await;
    database.emit(Thing::said("one")).await;
    sleeper.delivers("one").await;
    sleeper.stop().await;
}
