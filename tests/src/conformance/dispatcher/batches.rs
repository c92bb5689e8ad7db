//! Handlers that take several events at once and answer for each.

use super::{
    Account, Scene,
    follow_ups::{Seen, find, see},
    scene::spawn,
};
use crate::conformance::Harness;
use outbox_core::{Delivery, HandlerError, Outcome, headers};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};
use uuid::Uuid;

/// What a handler was called with, call by call.
type Calls = Arc<Mutex<Vec<Vec<(String, u32)>>>>;

fn told(batch: &[(Account, Delivery)]) -> Vec<(String, u32)> {
    let told =
        |(event, delivery): &(Account, Delivery)| (event.text().to_owned(), delivery.attempt());
    batch.iter().map(told).collect()
}

fn again() -> Outcome {
    // No sign of an outage.
    Err(HandlerError::retry_after(Duration::ZERO, "for now"))
}

/// One event of an aggregate at a time, each with an answer of its own.
pub async fn batches_keep_the_order_of_each_aggregate<H: Harness + 'static>(scene: &Scene<H>) {
    let mut emitted = 0;
    for round in 0..12 {
        for key in ["a", "b", "c", "d", "e"] {
            scene.emit(key, &format!("{key}{round}")).await;
            emitted += 1;
        }
    }
    let (log, calls) = (scene.log.by("d1"), Calls::default());
    let noting = Arc::clone(&calls);
    let handle = move |batch: Vec<(Account, Delivery)>| {
        let log = log.clone();
        noting.lock().unwrap().push(told(&batch));
        async move {
            let keys: BTreeSet<_> = batch.iter().map(|(_, delivery)| delivery.key()).collect();
            assert_eq!(keys.len(), batch.len());
            let mut outcomes = Vec::new();
            for (event, delivery) in &batch {
                let run = log.started(delivery.key().unwrap_or("-"), delivery.id());
                // A third fails at first.
                let fails = event.text().ends_with(['3', '6', '9']) && delivery.attempt() == 1;
                outcomes.push(if fails {
                    run.failed();
                    again()
                } else {
                    run.succeeded();
                    Ok(())
                });
            }
            outcomes
        }
    };
    let builder = scene
        .bare_dispatcher()
        .topic(Account::CHANGED, |topic| topic.batch(3, handle));
    let dispatcher = spawn(builder);
    scene.settled(emitted).await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().events, emitted);
    let longest = calls.lock().unwrap().iter().map(Vec::len).max();
    assert!(longest <= Some(3), "{longest:?}");
}

/// Three events, read before the first one is handled, and what a handler is called with.
async fn three<H: Harness + 'static>(
    scene: &Scene<H>,
    answer: impl Fn(&[(Account, Delivery)]) -> Vec<Outcome> + Send + Sync + 'static,
) -> Vec<Vec<(String, u32)>> {
    for key in ["a", "b", "c"] {
        scene.emit_draft(Account::changed(key, key), key).await;
    }
    let calls = Calls::default();
    let noting = Arc::clone(&calls);
    let answer = Arc::new(answer);
    let handle = move |batch: Vec<(Account, Delivery)>| {
        noting.lock().unwrap().push(told(&batch));
        let answer = Arc::clone(&answer);
        async move { answer(&batch) }
    };
    let builder = scene.bare_dispatcher().topic(Account::CHANGED, |topic| {
        topic.batch(3, handle).linger(Duration::from_secs(2))
    });
    let dispatcher = spawn(builder);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    let calls = calls.lock().unwrap().clone();
    assert_eq!(calls[0].len(), 3, "{calls:?}");
    calls
}

/// The others are done.
pub async fn an_event_without_an_answer_is_tried_again<H: Harness + 'static>(scene: &Scene<H>) {
    let answer = |batch: &[(Account, Delivery)]| -> Vec<Outcome> {
        let answered = if batch.len() == 3 { 2 } else { batch.len() };
        (0..answered).map(|_| Ok(())).collect()
    };
    let calls = three(scene, answer).await;
    let (third, _) = &calls[0][2];
    assert_eq!(calls[1..], [vec![(third.clone(), 2)]]);
    assert_eq!(scene.harness.delivered().await.len(), 3);
}

/// Nobody knows which of them it was.
pub async fn a_panic_counts_for_every_event_of_a_batch<H: Harness + 'static>(scene: &Scene<H>) {
    let answer = |batch: &[(Account, Delivery)]| -> Vec<Outcome> {
        assert!(batch.iter().all(|(_, delivery)| delivery.attempt() > 1));
        batch.iter().map(|_| Ok(())).collect()
    };
    let calls = three(scene, answer).await;
    let again: BTreeSet<_> = calls[1..].iter().flatten().cloned().collect();
    let expected = ["a", "b", "c"].map(|key| (key.to_owned(), 2));
    assert_eq!(again, BTreeSet::from(expected));
}

/// What they have in common by itself, and what one of them causes by its context.
pub async fn a_batch_carries_on_what_its_events_share<H: Harness + 'static>(scene: &Scene<H>) {
    for (key, trace) in [("a", "00-1-2-01"), ("b", "00-3-4-01")] {
        let draft = Account::changed(key, key);
        let draft = draft.header(headers::TENANT_ID, "acme");
        let draft = draft.header(headers::TRACEPARENT, trace);
        scene.emit_draft(draft, key).await;
    }
    let (seen, emitter) = (Seen::default(), scene.clone());
    let noting = Arc::clone(&seen);
    let handle = move |batch: Vec<(Account, Delivery)>| {
        let emitter = emitter.clone();
        async move {
            assert_eq!(batch.len(), 2);
            let emit = |text: &'static str| emitter.emit_draft(Account::closed("x", text), text);
            emit("of both").await;
            let of_b = batch.iter().find(|(event, _)| event.text() == "b");
            let context = of_b.map(|(_, delivery)| delivery.context()).unwrap();
            context.scope(emit("of b")).await;
            vec![Ok(()), Ok(())]
        }
    };
    let note = move |event: Account, delivery: Delivery| {
        see(&noting, event.text(), &delivery);
        async { Ok::<(), HandlerError>(()) }
    };
    let builder = scene
        .bare_dispatcher()
        .topic(Account::CHANGED, |topic| {
            topic.batch(2, handle).linger(Duration::from_secs(2))
        })
        .on(Account::CLOSED, note);
    let dispatcher = spawn(builder);
    let both = || async { seen.lock().unwrap().len() == 2 };
    scene.until("both follow-ups have come", both).await;
    dispatcher.shutdown().await;
    let (_, of_both): (Uuid, _) = find(&seen, "of both");
    assert_eq!(of_both.text(headers::TENANT_ID), Some("acme"));
    assert_eq!(of_both.get(headers::TRACEPARENT), None);
    assert_eq!(of_both.get(headers::CAUSATION_ID), None);
    let (_, of_b) = find(&seen, "of b");
    assert_eq!(of_b.text(headers::TENANT_ID), Some("acme"));
    assert_eq!(of_b.text(headers::TRACEPARENT), Some("00-3-4-01"));
    assert!(of_b.get(headers::CAUSATION_ID).is_some());
}
