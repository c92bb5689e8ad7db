//! A dispatcher that stops leaves everything to the next one.

use super::{Scene, ok, scene::spawn};
use crate::{
    conformance::Harness,
    watched::{Moment, Verb, Watched},
};
use std::time::Duration;
use tokio::sync::watch;

/// What runs is finished and written, what does not is taken over at once.
pub async fn a_graceful_stop_hands_the_rest_back<H: Harness + 'static>(scene: &Scene<H>) {
    for number in 0..20 {
        scene.emit(&format!("x{number}"), "1").await;
    }
    let slow = |_, _| async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(())
    };
    let first = spawn(scene.dispatcher("d1", slow).concurrency(2));
    scene.settled(2).await;
    first.shutdown().await;
    let left = scene.harness.pending().await;
    assert!(!left.is_empty());
    assert!(left.iter().all(|row| (row.attempts, row.crashes) == (0, 0)));
    assert_eq!(scene.history().settled(), 20 - left.len(), "all is written");

    // The lease is longer than anybody waits: nothing was left to run out.
    let next = spawn(scene.dispatcher("d2", ok).lease(Duration::from_secs(600)));
    scene.settled(20).await;
    next.shutdown().await;
    assert_eq!(scene.history().assert_clean().duplicates, 0);
}

/// One that is there already takes over with its next poll: the next look by its clock is minutes
/// away, and a law does not wait as long.
pub async fn a_standby_goes_on_at_once_after_a_clean_stop<H: Harness + 'static>(scene: &Scene<H>) {
    let lease = Duration::from_secs(600);
    scene.emit("x", "1").await;
    let first = spawn(scene.dispatcher("d1", ok).lease(lease));
    scene.pending(0).await;
    let store = Watched::new(scene.harness.store());
    let (answered, mut answer) = watch::channel(false);
    store.fail(move |call| {
        if (call.verb, call.moment) == (Verb::Shards, Moment::After) {
            answered.send_replace(true);
        }
        None
    });
    let standby = spawn(scene.dispatcher_over(store, "d2", ok).lease(lease));
    answer.wait_for(|answered| *answered).await.unwrap();
    // It has seen that everything is another's.
    first.shutdown().await;
    scene.emit("x", "2").await;
    scene.pending(0).await;
    let told = || async { standby.stats().delivered == 1 };
    scene.until("it was the standby", told).await;
    standby.shutdown().await;
    assert_eq!(scene.history().assert_clean().duplicates, 0);
}

/// All its connections are dead without anybody being told, while handlers run. No law, as there is no
/// wire before every store.
pub async fn a_stop_waits_for_no_connection_that_is_silent<H: Harness + 'static>(
    scene: &Scene<H>,
    through: H::Store,
    silence: impl Fn(),
) {
    let slow = |_, _| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(())
    };
    let grace = Duration::from_secs(1);
    let builder = scene.dispatcher_over(through, "d1", slow);
    let dispatcher = spawn(builder.grace(grace).concurrency(4));
    for number in 0..200 {
        scene.emit(&format!("x{}", number % 10), "1").await;
    }
    scene.settled(20).await;
    scene.log.by("d1").fault();
    silence();
    // Of a hang, not of how fast the machine is.
    let limit = grace + Duration::from_secs(10);
    let stopped = tokio::time::timeout(limit, dispatcher.shutdown()).await;
    assert!(stopped.is_ok(), "it waits for an answer");
    let next = spawn(scene.dispatcher("d2", ok));
    scene.settled(200).await;
    scene.pending(0).await;
    next.shutdown().await;
    assert_eq!(scene.history().assert_clean().events, 200);
}

/// No attempt is burnt for it.
pub async fn what_was_in_work_at_a_hard_stop_comes_again<H: Harness + 'static>(scene: &Scene<H>) {
    for text in ["1", "2"] {
        scene.emit("x", text).await;
    }
    let hang = |_, _| async {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        Ok(())
    };
    let lease = Duration::from_secs(600);
    let hanging = spawn(scene.dispatcher("d1", hang).lease(lease));
    let started = || async { hanging.stats().in_work == 1 };
    scene.until("started", started).await;
    scene.log.by("d1").fault();
    hanging.abort().await;
    let pending = scene.harness.pending().await;
    assert!(
        pending
            .iter()
            .all(|row| (row.attempts, row.crashes) == (0, 0))
    );
    let next = spawn(scene.dispatcher("d2", ok).lease(lease));
    scene.pending(0).await;
    next.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 3);
}

/// It is renewed while the handler works, and nobody else starts its event (B047).
pub async fn a_handler_may_take_longer_than_the_lease<H: Harness + 'static>(scene: &Scene<H>) {
    scene.emit("x", "1").await;
    let slow = |_, _| async {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        Ok(())
    };
    let lease = Duration::from_secs(1);
    let first = spawn(scene.dispatcher("d1", slow).lease(lease));
    let started = || async { first.stats().in_work == 1 };
    scene.until("started", started).await;
    let second = spawn(scene.dispatcher("d2", slow).lease(lease));
    scene.pending(0).await;
    for dispatcher in [first, second] {
        assert_eq!(dispatcher.stats().lease_lost, 0);
        dispatcher.shutdown().await;
    }
    assert_eq!(scene.history().assert_clean().starts, 1);
}
