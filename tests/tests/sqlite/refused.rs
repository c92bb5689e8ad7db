//! A database that cannot be written for a while. B055.

use super::harness::Sqlite;
use outbox_core::{CancellationToken, Delivery};
use outbox_tests::conformance::dispatcher::Scene;
use std::time::Duration;

/// Long enough for a settle to have been tried, and its successors to be handled.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(500)).await;
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
