//! What a handler gets is what was emitted.

use super::{Scene, ok, scene::spawn};
use crate::conformance::{Capability, Harness};
use outbox_core::{Delivery, Draft, HandlerError, OutboxEvent};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};
use tokio::sync::Barrier;

/// Numbers and texts that get damaged on the way where something is careless.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "value", crate = outbox_core)]
enum Value {
    Numbers {
        #[outbox(key)]
        key: String,
        unsigned: Vec<u64>,
        signed: Vec<i64>,
        wide: (u128, i128),
        floats: Vec<f64>,
        optional: Option<Option<u64>>,
    },
    Text(#[outbox(key)] String, BTreeMap<String, String>),
    /// Nobody waits for it, and it waits for nobody.
    #[outbox(unordered)]
    Keyless {
        number: u32,
    },
}

type Seen = Arc<Mutex<Vec<(Value, Delivery)>>>;

async fn deliver<H: Harness + 'static>(scene: &Scene<H>, events: Vec<Draft>) -> Seen {
    for event in events {
        scene.emit_draft(event, "").await;
    }
    let seen = Seen::default();
    let into = Arc::clone(&seen);
    let dispatcher = scene
        .bare_dispatcher()
        .on_event(move |event: Value, delivery: Delivery| {
            into.lock().unwrap().push((event, delivery));
            async { Ok::<(), HandlerError>(()) }
        });
    let dispatcher = spawn(dispatcher);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    seen
}

/// To the last bit, also beyond what a double holds (field case B003).
pub async fn numbers_arrive_exactly<H: Harness + 'static>(scene: &Scene<H>) {
    let zero = if H::LACKS.contains(&Capability::SignedZero) {
        0.0
    } else {
        -0.0
    };
    let event = Value::Numbers {
        key: "n".to_owned(),
        unsigned: vec![u64::MAX, (1 << 53) + 1, 0],
        signed: vec![i64::MIN, i64::MAX, -1],
        wide: (u128::MAX, i128::MIN),
        floats: vec![0.1 + 0.2, f64::MAX, 1e-308, zero, 5e-324],
        optional: Some(None),
    };
    let seen = deliver(scene, vec![Draft::new(&event)]).await;
    let seen = &seen.lock().unwrap()[0].0;
    // `Some(None)` and `None` are the same JSON: everything else is equal, floats bit for bit.
    let expected = format!("{event:?}").replace("Some(None)", "None");
    assert_eq!(format!("{seen:?}"), expected);
}

/// Emoji, odd characters and long texts, in payload, key and headers (B006, B011).
pub async fn texts_arrive_exactly<H: Harness + 'static>(scene: &Scene<H>) {
    let odd = "\u{1f980} naïve ‘’ \u{202e} \\u0000 \\ \" ' \r\n\t \u{7f}\u{10ffff} ﷺ 注文";
    let long = "ü".repeat(400_000);
    let texts = BTreeMap::from([(odd.to_owned(), odd.to_owned()), ("long".to_owned(), long)]);
    let event = Value::Text(odd.to_owned(), texts);
    let moon = "1969-07-20T20:17:40.123456Z".parse().unwrap();
    let draft = Draft::new(&event).header("note", odd).occurred_at(moon);
    let seen = deliver(scene, vec![draft]).await;
    let (found, delivery) = seen.lock().unwrap()[0].clone();
    assert_eq!(found, event);
    assert_eq!(delivery.key(), Some(odd));
    assert_eq!(delivery.headers().text("note"), Some(odd));
    assert_eq!(delivery.occurred_at(), moon);
}

/// Keys are compared byte by byte: what blocks one holds back no other (B020).
pub async fn keys_that_look_alike_are_different<H: Harness + 'static>(scene: &Scene<H>) {
    let pairs = [
        ("k1", "K1"),
        ("straße", "strasse"),
        ("é", "e"),
        ("a", "a\u{301}"),
    ];
    for (poison, good) in pairs {
        scene.emit(poison, "poison").await;
        scene.emit(good, "good").await;
    }
    let dispatcher = scene.dispatcher("a", |text, _| async move {
        if text == "poison" {
            return Err(HandlerError::dead("no"));
        }
        Ok(())
    });
    let dispatcher = spawn(dispatcher);
    scene.settled(2 * pairs.len()).await;
    for (_, good) in pairs {
        assert_eq!(scene.seen(good), ["good"]);
    }
    dispatcher.shutdown().await;
    assert_eq!(scene.harness.dead().await.len(), pairs.len());
}

/// An event without a key is a lane of its own: many are handled at once (B026).
pub async fn keyless_events_hold_back_nobody<H: Harness + 'static>(scene: &Scene<H>) {
    const AT_ONCE: usize = 8;
    let events = (0..1_000).map(|number| Draft::new(&Value::Keyless { number }));
    scene.harness.emit_all(events.collect()).await;
    let together = Arc::new(Barrier::new(AT_ONCE));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    let dispatcher = scene
        .bare_dispatcher()
        .on_event(move |event: Value, delivery: Delivery| {
            let (into, together) = (Arc::clone(&into), Arc::clone(&together));
            async move {
                assert_eq!(delivery.key(), None);
                let Value::Keyless { number } = event else {
                    unreachable!("only keyless events")
                };
                if number == 0 {
                    return Err(HandlerError::dead("the first one"));
                }
                if (500..500 + AT_ONCE).contains(&usize::try_from(number).unwrap()) {
                    together.wait().await;
                }
                into.lock().unwrap().push(number);
                Ok(())
            }
        });
    let dispatcher = spawn(dispatcher);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(seen.lock().unwrap().len(), 999);
    assert!(!scene.harness.dead().await[0].blocks);
}

/// A handler that expects something else gets a failed attempt, and the others their events
/// (B077).
pub async fn undecodable_events_fail_alone<H: Harness + 'static>(scene: &Scene<H>) {
    for number in 0..60 {
        let foreign = Foreign {
            key: number.to_string(),
        };
        scene.emit_draft(Draft::new(&foreign), "").await;
    }
    scene.emit("good", "good").await;
    let retry = outbox_core::RetryPolicy::never();
    let dispatcher = spawn(scene.dispatcher("a", ok).retry(retry));
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("good"), ["good"]);
    let dead = scene.harness.dead().await;
    assert_eq!(dead.len(), 60);
    assert!(
        dead[0]
            .error
            .starts_with("payload of version 1 cannot be decoded: missing field `text`")
    );
}

/// What another build emits to a topic of [`Account`](super::Account).
#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "account", topic = "account.changed", crate = outbox_core)]
struct Foreign {
    #[outbox(key)]
    key: String,
}
