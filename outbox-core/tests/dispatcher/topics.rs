use crate::support::*;
use outbox_core::{
    Context, Draft, Envelope, HandlerError, Headers, MemoryStore, OutboxEvent, headers,
};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// What another service, or the next build, emits into the same outbox.
#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", crate = outbox_core)]
enum NextOrder {
    #[outbox(topic = "order.step", version = 2, oldest = 2)]
    Step {
        #[outbox(key)]
        order: u32,
    },
    Cancelled {
        #[outbox(key)]
        order: u32,
    },
    #[outbox(topic = "order.mail", unordered)]
    Mail(#[outbox(key)] u32),
}

#[tokio::test(start_paused = true)]
async fn unknown_topics_stay_and_hold_back_their_own_aggregate() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(NextOrder::Cancelled { order: 1 }).unwrap();
    store.emit_all([step(1, 1), step(2, 1)]).unwrap();
    let old = spawn(dispatcher(&store, &log, ok));
    pass(600).await;
    assert_eq!(log.all(), [(2, 1)]);
    assert_eq!(old.stats().unknown, 1);
    assert_eq!(store.pending()[0].event.attempts, 0);
    old.shutdown().await;

    let known = log.clone();
    let new = spawn(dispatcher(&store, &log, ok).on_raw(
        "order.cancelled",
        move |_: Envelope, _| {
            known.push(1, 0);
            async { Ok(()) }
        },
    ));
    until("delivered by the new build", || store.pending().is_empty()).await;
    assert_eq!(log.of(1), [0, 1]);
    new.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn newer_versions_are_left_in_place() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(NextOrder::Step { order: 1 }).unwrap();
    store.emit_all([step(1, 1), step(2, 1)]).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, ok));
    pass(600).await;
    assert_eq!(log.all(), [(2, 1)]);
    assert_eq!(dispatcher.stats().newer, 1);
    assert_eq!(store.pending()[0].event.attempts, 0);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn undecodable_payloads_fail_alone() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all((0..300).map(NextOrder::Mail)).unwrap();
    store
        .emit_all((0..300).map(|order| step(order, 1)))
        .unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, ok));
    until("the good ones", || log.len() == 300).await;
    until("the bad ones", || store.dead().len() == 300).await;
    let error = &store.dead()[0].error;
    assert!(
        error.starts_with("payload of version 1 cannot be decoded: "),
        "{error}"
    );
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn events_emitted_by_a_handler_carry_on_its_context() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let given = Headers::from_iter([
        (headers::TENANT_ID, "acme"),
        (
            headers::TRACEPARENT,
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
        ("request_id", "r1"),
    ]);
    let first = Context::new(given)
        .scope(async { store.emit(step(1, 1)) })
        .await
        .unwrap();
    let emitter = store.clone();
    let dispatcher = spawn(dispatcher(&store, &log, move |order, number, _| {
        let store = emitter.clone();
        async move {
            if number < 3 {
                store.emit(step(order, number + 1))?;
            }
            Ok(())
        }
    }));
    until("three", || store.delivered().len() == 3).await;
    dispatcher.shutdown().await;
    let delivered = store.delivered();
    let header = |index: usize, name: &str| {
        let headers = delivered[index].parse_headers().unwrap();
        headers.text(name).map(str::to_owned)
    };
    for index in 0..3 {
        assert_eq!(header(index, headers::TENANT_ID).as_deref(), Some("acme"));
        assert!(header(index, headers::TRACEPARENT).is_some());
    }
    let first = Some(first.id().to_string());
    assert_eq!(header(0, headers::CAUSATION_ID), None);
    assert_eq!(
        (
            header(1, headers::CAUSATION_ID),
            header(1, headers::CORRELATION_ID)
        ),
        (first.clone(), first.clone())
    );
    assert_eq!(
        header(2, headers::CAUSATION_ID),
        Some(delivered[1].id.to_string())
    );
    assert_eq!(header(2, headers::CORRELATION_ID), first);
    assert_eq!(
        header(1, "request_id"),
        None,
        "a request's own headers end with it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_delivery_tells_what_is_known_of_its_event() {
    let store = MemoryStore::new();
    let id = store
        .emit(Draft::new(&step(7, 1)).header("shop", "north"))
        .unwrap();
    let seen = Arc::new(Mutex::new(None));
    let into = Arc::clone(&seen);
    let handle = builder(&store).with_state("state".to_owned()).on_event(
        move |_: Order, delivery: outbox_core::Delivery| {
            let into = Arc::clone(&into);
            async move {
                assert_eq!(delivery.state::<String>()?, "state");
                assert!(delivery.state::<u32>().is_err());
                *into.lock().unwrap() = Some(delivery);
                Ok::<(), HandlerError>(())
            }
        },
    );
    let dispatcher = spawn(handle);
    until("seen", || seen.lock().unwrap().is_some()).await;
    let delivery = seen.lock().unwrap().clone().unwrap();
    assert_eq!(delivery.id(), id.id());
    assert_eq!(delivery.idempotency_key(), id.id().to_string());
    assert_eq!((delivery.aggregate(), delivery.key()), ("order", Some("7")));
    assert_eq!(
        (delivery.topic(), delivery.attempt(), delivery.position()),
        ("order.step", 1, 1)
    );
    assert!(delivery.epoch() > 0);
    assert_eq!(delivery.headers().text("shop"), Some("north"));
    dispatcher.shutdown().await;
}
