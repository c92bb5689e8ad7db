//! What a handler emits carries on what its event had.

use super::{Account, Scene, scene::spawn};
use crate::conformance::Harness;
use outbox_core::{Context, Delivery, DispatcherBuilder, Envelope, HandlerError, Headers, headers};
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

/// A first event, whose handler emits the second.
pub(super) struct FollowUp<H> {
    scene: Scene<H>,
    seen: Seen,
}

impl<H> Clone for FollowUp<H> {
    fn clone(&self) -> Self {
        let (scene, seen) = (self.scene.clone(), Arc::clone(&self.seen));
        Self { scene, seen }
    }
}

impl<H: Harness + 'static> FollowUp<H> {
    pub(super) fn in_scene(scene: &Scene<H>) -> Self {
        let (scene, seen) = (scene.clone(), Seen::default());
        Self { scene, seen }
    }

    /// Notes an event that has come; whether it is the first.
    pub(super) fn comes(&self, text: &str, delivery: &Delivery) -> bool {
        see(&self.seen, text, delivery);
        text == "first"
    }

    /// Emits the second one.
    async fn emit(self) {
        let second = Account::changed("x", "second");
        self.scene.emit_draft(second, "second").await;
    }

    /// Emits the first event of a request, waits until both have been handled, and compares them.
    pub(super) async fn assert_carried_on(
        &self,
        handled: impl FnOnce(DispatcherBuilder<H::Store>) -> DispatcherBuilder<H::Store>,
    ) {
        let first = Account::changed("x", "first")
            .header(headers::TENANT_ID, "acme")
            .header(headers::TRACEPARENT, "00-1-2-01")
            .header("own", "not inherited");
        self.scene.emit_draft(first, "first").await;
        let dispatcher = spawn(handled(self.scene.bare_dispatcher()));
        let both = || async { self.seen.lock().unwrap().len() == 2 };
        self.scene.until("the follow-up has come", both).await;
        dispatcher.shutdown().await;
        let (first, _) = find(&self.seen, "first");
        let (_, carried) = find(&self.seen, "second");
        let first = first.to_string();
        assert_eq!(carried.text(headers::TENANT_ID), Some("acme"));
        assert_eq!(carried.text(headers::TRACEPARENT), Some("00-1-2-01"));
        assert_eq!(carried.text(headers::CAUSATION_ID), Some(&*first));
        assert_eq!(carried.text(headers::CORRELATION_ID), Some(&*first));
        assert_eq!(carried.get("own"), None);
    }
}

/// The handler of one topic.
pub async fn a_handler_of_a_topic_carries_on<H: Harness + 'static>(scene: &Scene<H>) {
    let follow_up = FollowUp::in_scene(scene);
    let handler = follow_up.clone();
    let handle = move |event: Account, delivery: Delivery| {
        let handler = handler.clone();
        async move {
            if handler.comes(event.text(), &delivery) {
                handler.emit().await;
            }
            Ok::<(), HandlerError>(())
        }
    };
    let handled = |builder: DispatcherBuilder<_>| builder.on(Account::CHANGED, handle);
    follow_up.assert_carried_on(handled).await;
}

/// The handler of a whole event type, whose work goes on in another task.
pub async fn a_spawned_task_carries_on_what_it_is_given<H: Harness + 'static>(scene: &Scene<H>) {
    let follow_up = FollowUp::in_scene(scene);
    let handler = follow_up.clone();
    let handle = move |event: Account, delivery: Delivery| {
        let handler = handler.clone();
        async move {
            if handler.comes(event.text(), &delivery) {
                tokio::spawn(Context::carry(handler.emit())).await?;
            }
            Ok::<(), HandlerError>(())
        }
    };
    let handled = |builder: DispatcherBuilder<_>| builder.on_event(handle);
    follow_up.assert_carried_on(handled).await;
}

/// A handler that takes events as they are.
pub async fn a_raw_handler_carries_on<H: Harness + 'static>(scene: &Scene<H>) {
    let follow_up = FollowUp::in_scene(scene);
    let handler = follow_up.clone();
    let handle = move |event: Envelope, delivery: Delivery| {
        let handler = handler.clone();
        async move {
            let is_first = event.payload.contains("first");
            if handler.comes(if is_first { "first" } else { "second" }, &delivery) {
                handler.emit().await;
            }
            Ok::<(), HandlerError>(())
        }
    };
    let handled = |builder: DispatcherBuilder<_>| builder.on_raw("account.changed", handle);
    follow_up.assert_carried_on(handled).await;
}
