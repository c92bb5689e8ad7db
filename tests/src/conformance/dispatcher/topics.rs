//! Where the events of a topic go.

use super::{Account, Scene, ok, scene::spawn};
use crate::conformance::Harness;
use outbox_core::{
    Delivery, Envelope, HandlerError, Outcome, Publisher, async_trait, store::Store,
};
use outbox_seaorm::{Outbox, SeaOrmStore, schema};
use sea_orm::TransactionTrait;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

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

/// While builds of two releases run, the old one leaves what it does not know, and the new one
/// delivers everything else; in the end everything has its order.
pub async fn builds_of_two_releases_lose_and_reorder_nothing<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let log = scene.log.by("old");
    let old = scene.bare_dispatcher();
    let old = old.on(Account::CHANGED, move |_: Account, delivery: Delivery| {
        let run = log.started(delivery.key().unwrap_or("-"), delivery.id());
        async move {
            run.succeeded();
            Ok(())
        }
    });
    let old = spawn(old.lease(Duration::from_secs(1)));
    let emit = async |round: usize| {
        for number in 0..60 {
            let key = format!("x{}", number % 12);
            let text = format!("{round}.{number}");
            if (number + round).is_multiple_of(5) {
                let id = scene.emit_draft(Account::closed(&key, &text), &text).await;
                scene.log.emitted(&key, id);
            } else {
                scene.emit(&key, &text).await;
            }
        }
    };
    emit(0).await;
    let some = || async { scene.history().settled() > 0 };
    scene.until("the old build delivers", some).await;
    let new = scene.dispatcher("new", ok).lease(Duration::from_secs(1));
    let new = spawn(new);
    for round in 1..4 {
        emit(round).await;
        scene.harness.pass(Duration::from_millis(200)).await;
    }
    old.shutdown().await;
    scene.settled(240).await;
    scene.pending(0).await;
    new.shutdown().await;
    assert_eq!(scene.history().assert_clean().duplicates, 0);
}

/// Another service's outbox in the same database.
pub async fn two_prefixes_in_one_database_never_meet<H: Harness + 'static>(scene: &Scene<H>) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    let outbox = Outbox::builder().prefix("other_");
    let outbox = match tables.outbox.names().schema() {
        Some(schema) => outbox.schema(schema),
        None => outbox,
    };
    let outbox = outbox.build().unwrap();
    schema::create_with(&outbox, &tables.db).await.unwrap();
    let store = SeaOrmStore::new(&tables.db, &outbox);
    for number in 0..40 {
        scene.emit("x", &format!("mine {number}")).await;
        let txn = tables.db.begin().await.unwrap();
        let theirs = Account::changed("x", "theirs");
        let id = outbox.emit(&txn, theirs).await.unwrap().id();
        txn.commit().await.unwrap();
        scene.note(id, "theirs");
        scene.log.emitted("theirs", id);
    }
    let only = |whose: &'static str| {
        move |text: String, _: Delivery| async move {
            if text.starts_with(whose) {
                return Ok(());
            }
            Err(HandlerError::dead("somebody else's"))
        }
    };
    let log = scene.log.by("theirs");
    let theirs = outbox_core::Dispatcher::<SeaOrmStore>::builder(store.clone());
    let theirs = theirs.on_event(move |event: Account, delivery: Delivery| {
        assert_eq!(event.text(), "theirs");
        let run = log.started("theirs", delivery.id());
        async move {
            run.succeeded();
            Ok(())
        }
    });
    let dispatchers = [spawn(scene.dispatcher("mine", only("mine"))), spawn(theirs)];
    scene.settled(80).await;
    scene.pending(0).await;
    for dispatcher in dispatchers {
        dispatcher.shutdown().await;
    }
    assert_eq!(scene.harness.dead().await, []);
    assert_eq!(scene.harness.delivered().await.len(), 40);
    assert_eq!(store.members().await.unwrap(), []);
    assert_eq!(scene.history().assert_clean().duplicates, 0);
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
