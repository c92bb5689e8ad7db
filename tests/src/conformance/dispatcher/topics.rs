//! Where the events of a topic go.

use super::{Account, Scene, ok, scene::spawn};
use crate::conformance::Harness;
use outbox_core::{Delivery, Envelope, HandlerError, Outcome, Publisher, async_trait};
use std::sync::{Arc, Mutex};

type Seen = Arc<Mutex<Vec<String>>>;

/// It waits for a build that knows it, and its successors with it.
pub async fn an_unknown_topic_holds_back_its_own_aggregate_only<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let closed = scene
        .emit_draft(Account::closed("x", "closed"), "closed")
        .await;
    scene.log.emitted("x", closed);
    scene.emit("x", "behind").await;
    scene.emit("y", "other").await;
    let seen = Seen::default();
    let by_old = Arc::clone(&seen);
    let old = scene
        .bare_dispatcher()
        .on(Account::CHANGED, move |event: Account, _: Delivery| {
            by_old.lock().unwrap().push(event.text().to_owned());
            async { Ok(()) }
        });
    let old = spawn(old);
    scene.pending(2).await;
    assert_eq!(old.stats().unknown, 1);
    old.shutdown().await;
    assert_eq!(*seen.lock().unwrap(), ["other"]);

    let new = spawn(scene.dispatcher("new", ok));
    scene.pending(0).await;
    new.shutdown().await;
    assert_eq!(scene.seen("x"), ["closed", "behind"]);
}

struct Broker(Seen);

#[async_trait]
impl Publisher for Broker {
    async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome> {
        let topics = envelopes.iter().map(|envelope| envelope.topic.clone());
        self.0.lock().unwrap().extend(topics);
        envelopes.iter().map(|_| Ok(())).collect()
    }
}

/// To its own handler, to one that takes it encoded, or to a publisher.
pub async fn each_event_goes_where_its_topic_says<H: Harness + 'static>(scene: &Scene<H>) {
    scene.emit_draft(Account::changed("x", "1"), "1").await;
    scene.emit_draft(Account::closed("x", "2"), "2").await;
    let thing = crate::conformance::Thing::of("x", "3");
    scene.emit_draft(thing, "3").await;
    let (typed, raw, forwarded) = (Seen::default(), Seen::default(), Seen::default());
    let (to_typed, to_raw) = (Arc::clone(&typed), Arc::clone(&raw));
    let dispatcher = scene
        .bare_dispatcher()
        .on(Account::CHANGED, move |event: Account, _: Delivery| {
            to_typed.lock().unwrap().push(event.text().to_owned());
            async { Ok::<(), HandlerError>(()) }
        })
        .on_raw("account.closed", move |envelope: Envelope, _: Delivery| {
            // How a database spaces its JSON is its own affair.
            let payload: serde_json::Value = serde_json::from_str(&envelope.payload).unwrap();
            to_raw.lock().unwrap().push(payload.to_string());
            async { Ok::<(), HandlerError>(()) }
        })
        .forward("*", Broker(Arc::clone(&forwarded)));
    let dispatcher = spawn(dispatcher);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(*typed.lock().unwrap(), ["1"]);
    assert_eq!(*raw.lock().unwrap(), [r#"{"key":"x","text":"2"}"#]);
    assert_eq!(*forwarded.lock().unwrap(), ["thing.said"]);
}
