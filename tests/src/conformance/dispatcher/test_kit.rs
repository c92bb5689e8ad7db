//! A dispatcher in a test: run to the end of its work, in the outbox's own time.

use super::{Account, Scene, ok, scene::spawn};
use crate::conformance::Harness;
use outbox_core::{
    RetryPolicy,
    store::Verdict,
    testing::{Faulty, Recorder, TestStore},
};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// As production does it: what failed is tried again by the topic's policy, to the end.
pub async fn the_retry_curve_takes_no_time<H: Harness + 'static>(scene: &Scene<H>) {
    let id = scene.emit("a", "fails").await;
    let behind = scene.emit("a", "waits").await;
    let recorder = Recorder::new();
    let policy = RetryPolicy::new(HOUR, HOUR * 4, 3).unwrap();
    let handler = recorder.wrap(Faulty::new(recorder.handler()).fails(4));
    let dispatcher = scene.bare_dispatcher().on_event::<Account>(handler);
    let dispatcher = dispatcher.retry(policy).build().unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();

    let outcomes = drained.of(id);
    assert_eq!((outcomes.len(), drained.summary.retried), (4, 3));
    for (failed, outcome) in (1..).zip(&outcomes) {
        assert_eq!(outcome.attempts, failed);
        match outcome.verdict {
            Verdict::Retry { after, .. } => {
                let least = policy.delay(failed, 0.0).unwrap();
                assert!(after >= least && after <= least * 2, "{outcome}");
            }
            _ => assert_eq!(failed, 4, "{outcome}"),
        }
    }
    let (all, slack) = (HOUR * 7, HOUR / 60);
    assert!(drained.passed + slack >= all, "{:?}", drained.passed);
    assert!(drained.of(behind).is_empty(), "behind a dead letter");
    recorder.check_order().unwrap();
}

/// Each event is told as it was emitted, and what became of it.
pub async fn each_event_has_its_outcome<H: Harness + 'static>(scene: &Scene<H>) {
    let now = scene.emit("a", "now").await;
    let later = Account::changed("b", "later").after(HOUR);
    let later = scene.emit_draft(later, "later").await;
    let dispatcher = scene.dispatcher("d", ok).build().unwrap();
    let drained = dispatcher.drain().await.unwrap();
    assert_eq!(drained.outcomes.len(), 1);
    let due = drained.summary.next_due.unwrap();
    assert!(due <= HOUR && due > HOUR / 2, "{due:?}");
    let outcome = drained.of(now)[0];
    assert_eq!((&outcome.verdict, outcome.attempts), (&Verdict::Done, 1));
    let payload: serde_json::Value = serde_json::from_str(&outcome.event.payload).unwrap();
    assert_eq!(payload["text"], "now");
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!((drained.of(later).len(), drained.summary.delivered), (1, 1));
    assert!(drained.passed <= HOUR + HOUR / 60, "{:?}", drained.passed);
}

/// A dispatcher that runs does not wait for what has passed.
pub async fn who_runs_sees_time_pass<H: Harness + 'static>(scene: &Scene<H>) {
    let store = scene.harness.store();
    let recorder = Recorder::new();
    let retry = RetryPolicy::new(HOUR, HOUR, 3).unwrap();
    let handler = Faulty::new(recorder.handler()).fails(1);
    let dispatcher = scene.bare_dispatcher().on_event::<Account>(handler);
    let dispatcher = spawn(dispatcher.retry(retry));
    let first = scene.emit("a", "first").await;
    let retried = |count| {
        let stats = dispatcher.clone();
        move || {
            let retried = stats.stats().retried;
            async move { retried == count }
        }
    };
    scene.until("a failure", retried(1)).await;
    let later = Account::changed("b", "later").after(HOUR);
    let later = scene.emit_draft(later, "later").await;
    assert!(recorder.seen().is_empty());
    // A quarter more at most.
    store.advance(HOUR * 2).await.unwrap();
    recorder.wait_for(first, 1).await.unwrap();
    scene.until("another failure", retried(2)).await;
    store.advance(HOUR * 2).await.unwrap();
    recorder.wait_for(later, 1).await.unwrap();
    dispatcher.shutdown().await;
    recorder.check_order().unwrap();
}
