//! Outcomes that the database does not take.

use super::harness::Sqlite;
use outbox_core::{CancellationToken, Delivery, HandlerError};
use outbox_tests::conformance::dispatcher::{Scene, ok};
use std::time::Duration;

const REFUSE: &str = "CREATE TRIGGER refuse BEFORE DELETE ON outbox_event \
    BEGIN SELECT RAISE(ABORT, 'no'); END";

/// Long enough for a settle to have been tried, and its successors to be handled.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(500)).await;
}

#[tokio::test]
async fn a_refused_success_is_written_when_it_can_be() {
    let scene = Scene::<Sqlite<false>>::new().await;
    scene.harness.run(REFUSE).await;
    for text in ["1", "2", "3"] {
        scene.emit("x", text).await;
    }
    let dispatcher = scene.dispatcher("d1", ok);
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    scene.settled(1).await;
    a_moment().await;
    scene.pending(3).await;
    scene.harness.run("DROP TRIGGER refuse").await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 3, "none came twice");
}

#[tokio::test]
async fn a_success_waits_until_the_database_is_writable() {
    let scene = Scene::<Sqlite<false>>::new().await;
    for text in ["1", "2", "3"] {
        scene.emit("x", text).await;
    }
    let store = outbox_tests::conformance::Harness::store(&*scene.harness);
    let first = scene.clone();
    let handle = move |text: String, _: Delivery| {
        let scene = first.clone();
        async move {
            if text == "1" {
                scene.harness.run("PRAGMA query_only = ON").await;
            }
            Ok(())
        }
    };
    let dispatcher = scene.dispatcher_over(store, "d1", handle);
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    scene.settled(3).await;
    a_moment().await;
    scene.pending(3).await;
    scene.harness.run("PRAGMA query_only = OFF").await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 3, "none came twice");
}

#[tokio::test]
async fn a_lasting_refusal_holds_back_its_own_aggregate() {
    let scene = Scene::<Sqlite<false>>::new().await;
    let refused = scene.emit("x", "1").await;
    let id = refused.simple();
    let refuse = REFUSE.replace(
        "BEGIN SELECT",
        &format!("WHEN OLD.id = x'{id}' BEGIN SELECT"),
    );
    scene.harness.run(&refuse).await;
    for number in 2..=200 {
        let key = if number % 50 == 0 { "x" } else { "y" };
        scene.emit(key, &number.to_string()).await;
    }
    let dispatcher = scene.dispatcher("d1", |text, delivery| async move {
        if text == "50" && delivery.attempt() == 1 {
            // Not before the first one's settle was refused.
            a_moment().await;
            return Err(HandlerError::retry("after it"));
        }
        Ok(())
    });
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    scene.pending(5).await;
    scene.emit("y", "more").await;
    scene.emit("z", "other").await;
    scene.pending(5).await;
    assert_eq!(scene.seen("x"), ["1"]);
    scene.harness.run("DROP TRIGGER refuse").await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "50", "100", "150", "200"]);
    scene.history().assert_clean();
}
