//! What befalls a handler, and what becomes of its events.

use crate::orders::{Order, accept, builder, placed};
use outbox_core::{
    HandlerError, MemoryStore, RetryPolicy,
    store::{DeadReason, Verdict},
    testing::{Faulty, Recorder},
};
use std::time::Duration;

fn errors(outcomes: &[&outbox_core::testing::EventOutcome]) -> Vec<String> {
    let texts = outcomes.iter().map(|outcome| match &outcome.verdict {
        Verdict::Done => "done".to_owned(),
        Verdict::Retry { error, .. } => error.clone(),
        Verdict::Dead { reason, error, .. } => format!("{reason}: {error}"),
    });
    texts.collect()
}

#[tokio::test]
async fn each_event_meets_each_fault_in_turn() {
    let store = MemoryStore::new();
    let ids = store.emit_all([placed(7, 1), placed(7, 2)]).unwrap();
    let recorder = Recorder::new();
    let handler = Faulty::new(recorder.wrap(accept))
        .fails(2)
        .panics(1)
        .hangs(1)
        .forgets(1);
    let dispatcher = builder(&store)
        .on_event(handler)
        .timeout(Duration::from_millis(20))
        .build()
        .unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!(drained.summary.delivered, 2);
    for id in ids {
        assert_eq!(
            errors(&drained.of(id)),
            [
                "a fault of the test",
                "a fault of the test",
                "the handler panicked: a fault of the test",
                "the handler did not finish within 20ms",
                "a fault of the test: it was done, and is not known",
                "done",
            ]
        );
        let seen = recorder.done(id);
        assert_eq!((seen[0].attempt(), seen[1].attempt()), (5, 6));
    }
    assert_eq!(recorder.seen().len(), 4);
    recorder.check_order().unwrap();
}

#[tokio::test]
async fn it_fails_as_it_is_told_to() {
    let store = MemoryStore::new();
    let id = store.emit(placed(7, 1)).unwrap();
    let handler = Faulty::new(accept)
        .fails(1)
        .fails_with(1, || HandlerError::dead("never"));
    let dispatcher = builder(&store).on(Order::PLACED, handler).build().unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!(
        errors(&drained.of(id)),
        ["a fault of the test", "rejected: never"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_handler_takes_its_time() {
    let store = MemoryStore::new();
    store.emit(placed(7, 1)).unwrap();
    let slow = |seconds| Faulty::new(accept).slow(Duration::from_secs(seconds));
    let policy = RetryPolicy::never();
    let dispatcher = builder(&store).on_event(slow(61)).retry(policy).build();
    let drained = dispatcher.unwrap().drain().await.unwrap();
    assert_eq!(
        errors(&drained.of("order.placed")),
        ["exhausted: the handler did not finish within 60s"]
    );
    assert_eq!(drained.of("order.mail"), [] as [&_; 0]);
    assert!(matches!(
        drained.outcomes[0].verdict,
        Verdict::Dead {
            reason: DeadReason::Exhausted,
            ..
        }
    ));
    store.emit(placed(8, 1)).unwrap();
    let dispatcher = builder(&store).on_event(slow(59)).retry(policy).build();
    let drained = dispatcher.unwrap().drain().await.unwrap();
    assert_eq!(drained.summary.delivered, 1);
}
