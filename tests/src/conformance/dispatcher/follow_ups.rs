//! What a handler emits carries on what its event had.

use super::{Account, Scene, scene::spawn};
use crate::conformance::Harness;
use outbox_core::{Context, Delivery, DispatcherHandle, Envelope, HandlerError, Headers, headers};
use std::sync::{Arc, Mutex};
use uuid::Uuid;

/// The events that have come, each with its headers.
pub(super) type Seen = Arc<Mutex<Vec<(String, Uuid, Headers)>>>;

pub(super) fn see(seen: &Seen, text: &str, delivery: &Delivery) {
    let event = (text.to_owned(), delivery.id(), delivery.headers().clone());
    seen.lock().unwrap().push(event);
}

/// The event that says this.
pub(super) fn find(seen: &Seen, text: &str) -> (Uuid, Headers) {
    let seen = seen.lock().unwrap();
    let (_, id, headers) = seen.iter().find(|(found, ..)| found == text).unwrap();
    (*id, headers.clone())
}

/// Emits the first event of a request, waits for its follow-up, and compares them.
pub(super) async fn assert_carried_on<H>(
    scene: &Scene<H>,
    (seen, dispatcher): (Seen, DispatcherHandle),
    first: outbox_core::Draft,
) where
    H: Harness + 'static,
{
    let first = first
        .header(headers::TENANT_ID, "acme")
        .header(headers::TRACEPARENT, "00-1-2-01")
        .header("own", "not inherited");
    scene.emit_draft(first, "first").await;
    scene.pending(0).await;
    let both = || async { seen.lock().unwrap().len() == 2 };
    scene.until("the follow-up has come", both).await;
    dispatcher.shutdown().await;
    let (first, _) = find(&seen, "first");
    let (_, carried) = find(&seen, "second");
    let first = first.to_string();
    assert_eq!(carried.text(headers::TENANT_ID), Some("acme"));
    assert_eq!(carried.text(headers::TRACEPARENT), Some("00-1-2-01"));
    assert_eq!(carried.text(headers::CAUSATION_ID), Some(&*first));
    assert_eq!(carried.text(headers::CORRELATION_ID), Some(&*first));
    assert_eq!(carried.get("own"), None);
}

/// The handler of one topic.
pub async fn a_handler_of_a_topic_carries_on<H: Harness + 'static>(scene: &Scene<H>) {
    let (seen, emitter) = (Seen::default(), scene.clone());
    let noting = Arc::clone(&seen);
    let handle = move |event: Account, delivery: Delivery| {
        let (noting, emitter) = (Arc::clone(&noting), emitter.clone());
        async move {
            see(&noting, event.text(), &delivery);
            if event.text() == "first" {
                emitter
                    .emit_draft(Account::changed("x", "second"), "second")
                    .await;
            }
            Ok::<(), HandlerError>(())
        }
    };
    let builder = scene.bare_dispatcher().on(Account::CHANGED, handle);
    let running = (seen, spawn(builder));
    assert_carried_on(scene, running, Account::changed("x", "first")).await;
}

/// The handler of a whole event type, whose work goes on in another task.
pub async fn a_spawned_task_carries_on_what_it_is_given<H: Harness + 'static>(scene: &Scene<H>) {
    let (seen, emitter) = (Seen::default(), scene.clone());
    let noting = Arc::clone(&seen);
    let handle = move |event: Account, delivery: Delivery| {
        let (noting, emitter) = (Arc::clone(&noting), emitter.clone());
        async move {
            see(&noting, event.text(), &delivery);
            if event.text() == "first" {
                let emit = async move {
                    emitter
                        .emit_draft(Account::changed("x", "second"), "second")
                        .await;
                };
                tokio::spawn(Context::carry(emit)).await?;
            }
            Ok::<(), HandlerError>(())
        }
    };
    let builder = scene.bare_dispatcher().on_event(handle);
    let running = (seen, spawn(builder));
    assert_carried_on(scene, running, Account::changed("x", "first")).await;
}

/// A handler that takes events as they are.
pub async fn a_raw_handler_carries_on<H: Harness + 'static>(scene: &Scene<H>) {
    let (seen, emitter) = (Seen::default(), scene.clone());
    let noting = Arc::clone(&seen);
    let handle = move |event: Envelope, delivery: Delivery| {
        let (noting, emitter) = (Arc::clone(&noting), emitter.clone());
        async move {
            let first = event.payload.contains("first");
            see(&noting, if first { "first" } else { "second" }, &delivery);
            if first {
                emitter
                    .emit_draft(Account::changed("x", "second"), "second")
                    .await;
            }
            Ok::<(), HandlerError>(())
        }
    };
    let builder = scene.bare_dispatcher().on_raw("account.changed", handle);
    let running = (seen, spawn(builder));
    assert_carried_on(scene, running, Account::changed("x", "first")).await;
}
