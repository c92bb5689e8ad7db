//! What a failure holds back, and for how long.

use super::{Scene, scene::spawn};
use crate::{
    conformance::{
        Harness,
        operators::{operator, requeue},
    },
    watched::{Verb, Watched},
};
use outbox_core::{Delivery, HandlerError, OnDead, operator::Answer};
use sea_orm::DbBackend;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

async fn refuse_bad(text: String, _: Delivery) -> Result<(), HandlerError> {
    if text == "bad" {
        return Err(HandlerError::dead("no"));
    }
    Ok(())
}

async fn emit_bad<H: Harness + 'static>(scene: &Scene<H>) {
    for text in ["1", "bad", "3", "4"] {
        scene.emit("x", text).await;
    }
}

fn backend<H: Harness + 'static>(scene: &Scene<H>) -> Option<DbBackend> {
    scene.harness.tables().map(|tables| tables.backend())
}

async fn dead<H: Harness + 'static>(scene: &Scene<H>, letters: usize) {
    let dead = || async { scene.harness.dead().await.len() == letters };
    scene.until("a dead letter", dead).await;
}

/// It reads the dead letters before the events.
pub async fn what_blocks_is_known_to_the_next_owner<H: Harness + 'static>(scene: &Scene<H>) {
    emit_bad(scene).await;
    let first = spawn(scene.dispatcher("d1", refuse_bad));
    dead(scene, 1).await;
    first.shutdown().await;
    let second = spawn(scene.dispatcher("d2", refuse_bad));
    scene.emit("y", "other").await;
    scene.pending(2).await;
    second.shutdown().await;
    assert_eq!(scene.seen("x"), ["1"]);
    assert_eq!(scene.seen("y"), ["other"]);
    assert!(scene.harness.dead().await[0].blocks);
}

/// Where the topic says so.
pub async fn a_dead_letter_that_continues_lets_its_successors_go<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    emit_bad(scene).await;
    let go_on = |config: &mut outbox_core::Config| config.topic.on_dead = Some(OnDead::Continue);
    let dispatcher = spawn(scene.dispatcher("d1", refuse_bad).configure(go_on));
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "3", "4"]);
    assert!(!scene.harness.dead().await[0].blocks);
    scene.history().assert_clean();
}

/// Nothing else does, however long they wait.
pub async fn a_discarded_letter_lets_its_successors_go<H: Harness + 'static>(scene: &Scene<H>) {
    emit_bad(scene).await;
    let dispatcher = spawn(scene.dispatcher("d1", refuse_bad));
    dead(scene, 1).await;
    scene.emit("x", "5").await;
    scene.emit("y", "other").await;
    scene.pending(3).await;
    assert_eq!(scene.seen("x"), ["1"]);
    let letter = scene.harness.dead().await.remove(0);
    let operator = operator(&*scene.harness);
    let discarded = operator.discard(letter.position, "poison").await;
    assert_eq!(discarded.unwrap(), Answer::Done);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "3", "4", "5"]);
    assert_eq!(scene.harness.dead().await, []);
    scene.history().assert_clean();
}

/// Its successors have waited for it.
pub async fn a_requeued_letter_returns_to_its_place<H: Harness + 'static>(scene: &Scene<H>) {
    emit_bad(scene).await;
    let repaired = Arc::new(AtomicBool::new(false));
    let fixed = Arc::clone(&repaired);
    let dispatcher = spawn(scene.dispatcher("d1", move |text, delivery| {
        let fixed = fixed.load(SeqCst);
        async move {
            if fixed {
                return Ok(());
            }
            refuse_bad(text, delivery).await
        }
    }));
    dead(scene, 1).await;
    scene.emit("x", "5").await;
    repaired.store(true, SeqCst);
    let letter = scene.harness.dead().await.remove(0);
    requeue(&*scene.harness, letter.position).await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "bad", "3", "4", "5"]);
    scene.history().assert_clean();
}

/// The fetch that tells of the operator's change brings what was emitted since, and not the letter
/// (interleavings 5 and 26).
pub async fn what_comes_with_a_requeued_letter_waits_for_it<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    scene.emit("x", "bad").await;
    scene.emit("x", "2").await;
    let mut store = Watched::new(scene.harness.store());
    if backend(scene) == Some(DbBackend::MySql) {
        // There it takes an hour.
        store = store.trusting();
    }
    let repaired = Arc::new(AtomicBool::new(false));
    let fixed = Arc::clone(&repaired);
    let handle = move |text, delivery| {
        let fixed = fixed.load(SeqCst);
        async move {
            match fixed {
                true => Ok(()),
                false => refuse_bad(text, delivery).await,
            }
        }
    };
    let dispatcher = spawn(scene.dispatcher_over(store.clone(), "d1", handle));
    dead(scene, 1).await;
    // Read past, on every database: the floor has moved.
    scene.emit("y", "other").await;
    scene.settled(2).await;
    store.refuse(Verb::Fetch).await;
    repaired.store(true, SeqCst);
    let letter = scene.harness.dead().await.remove(0);
    requeue(&*scene.harness, letter.position).await;
    scene.emit("x", "3").await;
    store.mend();
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["bad", "2", "3"]);
    scene.history().assert_clean();
}

/// The topic pauses, and goes on when what was down is up again.
pub async fn an_outage_burns_no_attempt<H: Harness + 'static>(scene: &Scene<H>) {
    for number in 0..12 {
        scene
            .emit(&format!("x{}", number % 4), &number.to_string())
            .await;
    }
    let up = Arc::new(AtomicBool::new(false));
    let is_up = Arc::clone(&up);
    let dispatcher = spawn(scene.dispatcher("d1", move |_, delivery| {
        let up = is_up.load(SeqCst);
        async move {
            assert_eq!(delivery.attempt(), 1);
            if up {
                return Ok(());
            }
            Err(HandlerError::outage("connection refused"))
        }
    }));
    let tried = || async { dispatcher.stats().outages > 0 };
    scene.until("an outage", tried).await;
    scene.harness.pass(Duration::from_millis(50)).await;
    let pending = scene.harness.pending().await;
    assert_eq!(pending.len(), 12);
    assert!(pending.iter().all(|row| row.attempts == 0));
    up.store(true, SeqCst);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    scene.history().assert_clean();
}

/// Somebody removed it from the table: the others of its batch are settled (B060).
pub async fn an_event_that_is_removed_in_work_spoils_no_batch<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    for number in 0..10 {
        scene.emit(&format!("x{number}"), "1").await;
    }
    let gate = Arc::new(Semaphore::new(0));
    let opens = Arc::clone(&gate);
    let dispatcher = spawn(scene.dispatcher("d1", move |_, _| {
        let gate = Arc::clone(&opens);
        async move {
            drop(gate.acquire().await);
            Ok(())
        }
    }));
    let running = || async { dispatcher.stats().in_work == 10 };
    scene.until("all handlers run", running).await;
    let remove = "DELETE FROM \"outbox_event\" WHERE aggregateid = 'x3'";
    tables.run(remove).await;
    gate.add_permits(10);
    scene.pending(0).await;
    assert_eq!(scene.harness.delivered().await.len(), 9);
    scene.emit("x3", "2").await;
    scene.settled(11).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x3"), ["1", "2"]);
}
