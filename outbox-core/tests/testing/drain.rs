//! Running to the end of the work, in the outbox's own time.

use crate::orders::{Order, accept, builder, charge, placed};
use outbox_core::{
    CancellationToken, Draft, HandlerError, MemoryStore, RetryPolicy,
    store::{Member, Store, Verdict},
    testing::{Faulty, Recorder, TestStore},
};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
/// How much of the time that is let pass a test may take itself.
const SLACK: Duration = Duration::from_secs(10);

#[tokio::test]
async fn each_event_has_its_outcome() {
    let store = MemoryStore::new();
    let events = [placed(7, 1), charge(8, 2), charge(9, 3)];
    let ids = store.emit_all(events).unwrap();
    let dead = || HandlerError::dead("no money");
    let dispatcher = builder(&store)
        .on_event(accept)
        .topic(Order::CHARGE, |t| {
            t.handler(move |_, delivery: outbox_core::Delivery| async move {
                match delivery.key() {
                    Some("8") => Err(dead()),
                    _ => Err(HandlerError::retry("busy")),
                }
            })
        })
        .build()
        .unwrap();
    let drained = dispatcher.drain().await.unwrap();
    assert!(drained.summary.idle);
    let told: Vec<_> = ids
        .iter()
        .flat_map(|id| drained.of(*id))
        .map(|outcome| {
            let text = outcome.to_string();
            text.replace("1.", "1.x")
                .split(".x")
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        told,
        [
            "order.placed of order 7, attempt 1 after 0ns: delivered",
            "order.charge of order 8, attempt 1 after 0ns: dead, rejected: no money",
            "order.charge of order 9, attempt 1 after 0ns: again after 1",
        ]
    );
    let charged = drained.of(ids[2])[0];
    assert_eq!(charged.event.payload, r#"{"order":9,"cents":3}"#);
    assert!(
        matches!(&charged.verdict, Verdict::Retry { attempts: 1, error, .. } if error == "busy")
    );
    assert_eq!((charged.attempts, drained.passed), (1, Duration::ZERO));
}

#[tokio::test]
async fn the_retry_curve_takes_no_time() {
    let store = MemoryStore::new();
    let id = store.emit(placed(7, 1)).unwrap();
    let handler = Faulty::new(accept).fails(20);
    let policy = RetryPolicy::default();
    let dispatcher = builder(&store)
        .on_event::<Order>(handler)
        .retry(policy)
        .build()
        .unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    let outcomes = drained.of(id);
    assert_eq!((outcomes.len(), drained.summary.dead), (11, 1));
    let mut due = Duration::ZERO;
    for (failed, outcome) in (1..).zip(&outcomes) {
        assert_eq!(outcome.attempts, failed);
        // The time that the test itself takes passes too.
        let early = due.saturating_sub(outcome.at);
        assert!(early <= SLACK, "{outcome}, due after {due:?}");
        if let Verdict::Retry { after, .. } = outcome.verdict {
            let least = policy.delay(failed, 0.0).unwrap();
            assert!(after >= least && after <= least.mul_f64(1.25), "{outcome}");
            due = outcome.at + after;
        }
    }
    assert!(
        drained.passed + SLACK >= Duration::from_secs(1023),
        "{drained:?}"
    );
}

#[tokio::test]
async fn delays_take_no_time() {
    let store = MemoryStore::new();
    store
        .emit(Draft::new(&placed(7, 1)).after(HOUR * 24))
        .unwrap();
    store.emit(Draft::new(&placed(8, 1)).after(HOUR)).unwrap();
    let dispatcher = builder(&store).on_event(accept).build().unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    let late = drained.outcomes.iter().zip([HOUR, HOUR * 24]);
    for (outcome, due) in late {
        assert!(due.abs_diff(outcome.at) <= SLACK, "{outcome}");
    }
    assert_eq!(drained.summary.delivered, 2);
}

/// The time that a test lets pass is seen by a dispatcher that runs.
#[tokio::test]
async fn who_runs_sees_time_pass() {
    let store = MemoryStore::new();
    let recorder = Recorder::new();
    let handler = Faulty::new(recorder.handler()).fails(1);
    let policy = RetryPolicy::new(HOUR, HOUR, 3).unwrap();
    let dispatcher = builder(&store)
        .on_event::<Order>(handler)
        .retry(policy)
        .spawn(CancellationToken::new())
        .unwrap();
    store.emit(Draft::new(&placed(7, 1)).after(HOUR)).unwrap();
    store.emit(placed(8, 1)).unwrap();
    let failed = async {
        while dispatcher.stats().retried < 1 {
            tokio::task::yield_now().await;
        }
    };
    failed.await;
    assert_eq!(recorder.done(Order::PLACED).len(), 0);
    // A quarter more at most.
    store.advance(HOUR * 2).await.unwrap();
    let done = recorder.wait_for(Order::PLACED, 1).await.unwrap();
    assert_eq!(done[0].key(), Some("8"));
    while dispatcher.stats().retried < 2 {
        tokio::task::yield_now().await;
    }
    store.advance(HOUR * 2).await.unwrap();
    recorder.wait_for(Order::PLACED, 2).await.unwrap();
    dispatcher.shutdown().await;
}

/// A member that nobody renews: its process was killed.
#[tokio::test(start_paused = true)]
async fn leases_run_out_in_no_time() {
    let store = MemoryStore::new();
    store.emit(placed(7, 1)).unwrap();
    let gone = Member::new("gone".to_owned(), String::new());
    store.join(&gone, HOUR).await.unwrap();
    let seen = store.shards().await.unwrap();
    assert_eq!(store.take(gone.id, &seen).await.unwrap().len(), 1);
    let dispatcher = builder(&store).on_event(accept).build().unwrap();
    let drained = dispatcher.drain().await.unwrap();
    assert!(drained.summary.standing_by, "{drained:?}");
    store.advance(HOUR).await.unwrap();
    let drained = dispatcher.drain().await.unwrap();
    assert_eq!(drained.summary.delivered, 1);
}

/// What another service has written, as a dispatcher finds it in production (B175).
#[tokio::test]
async fn what_cannot_be_decoded_fails_in_the_kit_too() {
    #[derive(serde::Serialize, serde::Deserialize, outbox_core::OutboxEvent)]
    #[outbox(aggregate = "order", topic = "order.placed", crate = outbox_core)]
    struct Foreign {
        #[outbox(key)]
        number: String,
    }
    let store = MemoryStore::new();
    let number = "7".to_owned();
    let id = store.emit(Foreign { number }).unwrap();
    let recorder = Recorder::new();
    let handler = recorder.handler();
    let dispatcher = builder(&store).on_event::<Order>(handler).build().unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!((drained.of(id).len(), drained.summary.dead), (11, 1));
    let told = drained.of(id)[10].to_string();
    assert!(
        told.contains("payload of version 1 cannot be decoded"),
        "{told}"
    );
    assert!(recorder.seen().is_empty());
}

/// What is deleted by age.
#[tokio::test]
async fn the_history_ends_in_no_time() {
    let store = MemoryStore::new();
    store.emit(placed(7, 1)).unwrap();
    let dispatcher = builder(&store).on_event(accept).keep_history(HOUR);
    let dispatcher = dispatcher.build().unwrap();
    dispatcher.drain().await.unwrap();
    assert_eq!(store.delivered().len(), 1);
    store.advance(HOUR).await.unwrap();
    dispatcher.drain().await.unwrap();
    assert_eq!(store.delivered().len(), 0);
}

/// A topic that is down gives attempts back, and is tried until it is up.
#[tokio::test]
async fn an_outage_ends_in_no_time() {
    let store = MemoryStore::new();
    store
        .emit_all((1..=4).map(|order| placed(order, 1)))
        .unwrap();
    let handler = Faulty::new(accept).fails_with(3, || HandlerError::outage("down"));
    let dispatcher = builder(&store).on_event::<Order>(handler).build().unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!((drained.summary.delivered, drained.summary.retried), (4, 0));
    assert!(drained.outcomes.iter().all(|outcome| outcome.attempts == 1));
}
