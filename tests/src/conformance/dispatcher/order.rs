//! Events of an aggregate are handled one after the other, in the order they were written.

use super::{Account, Scene, ok, scene::spawn};
use crate::{
    conformance::{Harness, operators::requeue},
    history::What,
    watched::{Verb, Watched},
};
use outbox_core::{Config, Delivery, HandlerError};
use sea_orm::{DbBackend, TransactionTrait};
use std::{collections::BTreeSet, time::Duration};

/// Also among several aggregates and slow handlers.
pub async fn events_of_an_aggregate_come_in_the_order_they_were_written<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    for number in 0..60 {
        scene
            .emit(&format!("x{}", number % 3), &number.to_string())
            .await;
    }
    let dispatcher = spawn(scene.dispatcher("d1", |text, _| async move {
        let pause = text.len() as u64 % 3;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        Ok(())
    }));
    scene.settled(60).await;
    dispatcher.shutdown().await;
    scene.pending(0).await;
    let report = scene.history().assert_clean();
    assert_eq!(
        (report.events, report.starts, report.duplicates),
        (60, 60, 0)
    );
}

/// The first attempt of `1` fails; it comes back after a while.
async fn fail_first(text: String, delivery: Delivery) -> Result<(), HandlerError> {
    if text == "1" && delivery.attempt() == 1 {
        return Err(HandlerError::retry_after(
            Duration::from_millis(600),
            "not yet",
        ));
    }
    Ok(())
}

async fn emit_two_aggregates<H: Harness + 'static>(scene: &Scene<H>) {
    for text in ["1", "2", "3"] {
        scene.emit("x", text).await;
    }
    scene.emit("y", "other").await;
}

/// Whether the first attempt has failed, and the other aggregate went on.
async fn first_failed<H: Harness + 'static>(scene: &Scene<H>) {
    let failed = || async {
        let rows = scene.harness.pending().await;
        rows.len() == 3 && rows[0].attempts == 1
    };
    scene.until("the first attempt failed", failed).await;
}

/// Neither while it waits for an operator, nor when it goes on: many times as much of it waits as there is
/// room for (interleaving 14).
pub async fn a_blocked_hot_aggregate_holds_up_nobody<H: Harness + 'static>(scene: &Scene<H>) {
    let emit = async |key: &str, events: u32| {
        let texts: Vec<_> = (0..events).map(|number| number.to_string()).collect();
        let events: Vec<_> = texts
            .iter()
            .map(|text| (key.to_owned(), text.clone()))
            .collect();
        scene.emit_all(&events).await;
        texts
    };
    let (hot, other) = (emit("hot", 400).await, emit("x", 40).await);
    let narrow = |config: &mut Config| (config.window, config.batch) = (60, 20);
    let refuse = |_, delivery: Delivery| async move {
        match delivery.key() {
            Some("hot") => Err(HandlerError::dead("not yet")),
            _ => Ok(()),
        }
    };
    let dispatcher = spawn(scene.dispatcher("d1", refuse).configure(narrow));
    scene.pending(399).await;
    assert!(dispatcher.stats().waiting <= 60);
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), other);
    let letters = scene.harness.dead().await;
    assert_eq!(letters.len(), 1);
    requeue(&*scene.harness, letters[0].position).await;
    let next = spawn(scene.dispatcher("d2", ok).configure(narrow));
    let late = emit("y", 40).await;
    scene.pending(0).await;
    next.shutdown().await;
    assert_eq!((scene.seen("hot"), scene.seen("y")), (hot, late));
    assert_eq!(scene.history().assert_clean().starts, 481);
}

/// Its back-off is stored, not remembered.
pub async fn a_failed_event_keeps_its_place_through_a_restart<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    emit_two_aggregates(scene).await;
    let first = spawn(scene.dispatcher("d1", fail_first));
    first_failed(scene).await;
    first.shutdown().await;
    let next = spawn(scene.dispatcher("d2", fail_first));
    scene.pending(0).await;
    next.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "2", "3"]);
    assert_eq!(scene.history().assert_clean().starts, 5);
}

/// So it does when another dispatcher stood by.
pub async fn a_failed_event_keeps_its_place_through_a_hand_over<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    emit_two_aggregates(scene).await;
    let lease = Duration::from_secs(1);
    let first = spawn(scene.dispatcher("d1", fail_first).lease(lease));
    first_failed(scene).await;
    let second = spawn(scene.dispatcher("d2", fail_first).lease(lease));
    first.shutdown().await;
    scene.pending(0).await;
    second.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "2", "3"]);
    let history = scene.history();
    assert_eq!(history.assert_clean().starts, 5);
    let last = history
        .records()
        .iter()
        .rfind(|record| record.what == What::Succeeded);
    assert_eq!(last.unwrap().by, "d2");
}

/// Its neighbours do not wait for it.
pub async fn a_delayed_event_gets_its_place_when_it_falls_due<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let later = Account::changed("x", "later").after(Duration::from_secs(2));
    scene.emit_draft(later, "later").await;
    scene.emit("x", "now").await;
    let dispatcher = spawn(scene.dispatcher("d1", ok));
    scene.settled(2).await;
    assert_eq!(scene.seen("x"), ["now", "later"]);
    dispatcher.shutdown().await;
}

/// Neither a delayed event nor a retry waits for a poll: there is none (B101).
pub async fn what_falls_due_waits_for_no_poll<H: Harness + 'static>(scene: &Scene<H>) {
    const EVER: Duration = Duration::from_secs(600);
    let later = Account::changed("x", "later").after(Duration::from_secs(1));
    scene.emit_draft(later, "later").await;
    scene.emit("y", "1").await;
    let unhurried = |config: &mut Config| config.poll = (EVER, EVER);
    let builder = scene.dispatcher("d1", fail_first).configure(unhurried);
    // It looks around three times in a lease, and polls then.
    let dispatcher = spawn(builder.lease(EVER * 12));
    scene.settled(2).await;
    dispatcher.shutdown().await;
    assert_eq!(
        (scene.seen("x"), scene.seen("y")),
        (vec!["later".to_owned()], vec!["1".to_owned()])
    );
}

/// Not after the outbox was empty, and not after a restart.
pub async fn no_position_is_used_twice<H: Harness + 'static>(scene: &Scene<H>) {
    let mut positions = BTreeSet::new();
    for round in 1..=4 {
        scene.emit("x", &round.to_string()).await;
        let dispatcher = spawn(scene.dispatcher("d1", ok));
        scene.pending(0).await;
        dispatcher.shutdown().await;
        let delivered = scene.harness.delivered().await;
        assert_eq!(delivered.len(), round);
        let last = delivered.last().unwrap().position;
        assert!(positions.last().is_none_or(|before| *before < last));
        positions.insert(last);
    }
    scene.history().assert_clean();
}

/// Its place was read past, and its successor is seen in the same fetch as it (interleaving 1).
pub async fn an_event_that_commits_late_comes_before_its_successor<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let tables = scene.harness.tables();
    // Where there is one writer at a time, nobody passes it.
    let Some(tables) = tables.filter(|tables| tables.backend() != DbBackend::Sqlite) else {
        return;
    };
    let store = Watched::new(scene.harness.store());
    let dispatcher = spawn(scene.dispatcher_over(store.clone(), "d1", ok));
    let begin = async |text| {
        let txn = tables.db.begin().await.unwrap();
        let event = Account::changed("x", text);
        let id = tables.outbox.emit(&txn, event).await.unwrap().id();
        scene.note(id, text);
        (txn, id)
    };
    let (first, first_id) = begin("1").await;
    // In every shard, so that its place is read past wherever it is.
    let keys: Vec<_> = (0..300).map(|number| format!("y{number}")).collect();
    let between = keys.iter().map(|key| Account::changed(key, "between"));
    let txn = tables.db.begin().await.unwrap();
    let ids = tables.outbox.emit_all(&txn, between).await.unwrap();
    for (key, id) in keys.iter().zip(ids) {
        scene.note(id.id(), "between");
        scene.log.emitted(key, id.id());
    }
    txn.commit().await.unwrap();
    scene.settled(keys.len()).await;
    let (second, second_id) = begin("2").await;
    store.refuse(Verb::Fetch).await;
    for (txn, id) in [(first, first_id), (second, second_id)] {
        txn.commit().await.unwrap();
        scene.log.emitted("x", id);
    }
    store.mend();
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "2"]);
    scene.history().assert_clean();
}
