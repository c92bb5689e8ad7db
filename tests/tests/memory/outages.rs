//! Events that fail for reasons of their own, while nobody can tell that from an outage. The time is
//! virtual.

use super::harness::Memory;
use outbox_core::{CancellationToken, Delivery, DispatcherHandle, HandlerError, RetryPolicy};
use outbox_tests::conformance::dispatcher::Scene;
use std::time::Duration;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// A dispatcher of which all events fail that are not said to be well.
fn start(scene: &Scene<Memory>) -> DispatcherHandle {
    let handle = |text: String, _: Delivery| async move {
        match text.as_str() {
            "well" => Ok(()),
            _ => Err(HandlerError::retry("a bug")),
        }
    };
    let dispatcher = scene.dispatcher("d1", handle).retry(RetryPolicy::default());
    dispatcher.spawn(CancellationToken::new()).unwrap()
}

/// However many they are, and whether or not it was tried to see if they fail for good.
#[tokio::test(start_paused = true)]
async fn events_that_fail_hold_up_no_others() {
    for failing in [6, 80, 300] {
        for (waited, others) in [(10, false), (700, false), (10, true)] {
            let scene = Scene::over(Memory::new());
            let dispatcher = start(&scene);
            for number in 0..failing {
                scene.emit(&format!("failing-{number}"), "bad").await;
                if others {
                    scene.emit(&format!("other-{number}"), "well").await;
                }
            }
            tokio::time::sleep(SECOND * waited).await;
            assert!(
                others || dispatcher.stats().down == 1,
                "{failing}, {waited}"
            );
            let began = Instant::now();
            scene.emit("x", "well").await;
            let delivered = || async { scene.seen("x") == ["well"] };
            scene.until("it is delivered", delivered).await;
            let took = began.elapsed();
            // Where none of the others was tried, it waits for its turn.
            let most = if others || waited > 100 { 15 } else { 90 };
            assert!(
                took < SECOND * most,
                "{failing}, {waited}, {others}: {took:?}"
            );
            dispatcher.shutdown().await;
        }
    }
}
