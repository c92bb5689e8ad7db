//! Dispatcher and handlers share a pool, which may be of one connection.

use super::{Scene, scene::spawn};
use crate::conformance::Harness;
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;

/// A handler may open a transaction and emit in it.
pub async fn handlers_use_the_pool_that_they_are_delivered_from<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    for number in 0..30 {
        scene.emit(&format!("x{}", number % 10), "first").await;
    }
    let emitter = scene.clone();
    let dispatcher = spawn(scene.dispatcher("d1", move |text, delivery| {
        let emitter = emitter.clone();
        async move {
            if text == "first" {
                let key = format!("y{}", delivery.key().unwrap_or_default());
                emitter.emit(&key, "follow-up").await;
                emitter.harness.pending().await;
            }
            Ok(())
        }
    }));
    scene.settled(60).await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 60);
}

/// Everybody else may use them all.
pub async fn no_connection_is_held_while_a_handler_runs<H: Harness + 'static>(scene: &Scene<H>) {
    for key in ["x", "y", "z"] {
        scene.emit(key, "1").await;
    }
    let go_on = Arc::new(Notify::new());
    let waiting = Arc::clone(&go_on);
    let dispatcher = spawn(scene.dispatcher("d1", move |text, _| {
        let waiting = Arc::clone(&waiting);
        async move {
            if text == "1" {
                waiting.notified().await;
            }
            Ok(())
        }
    }));
    let running = || async { dispatcher.stats().in_work == 3 };
    scene.until("all handlers run", running).await;
    scene.emit("other", "2").await;
    scene.pending(3).await;
    scene.harness.pass(Duration::from_millis(100)).await;
    assert_eq!(scene.seen("other"), ["2"]);
    for _ in 0..3 {
        go_on.notify_one();
    }
    scene.settled(4).await;
    dispatcher.shutdown().await;
    scene.history().assert_clean();
}
