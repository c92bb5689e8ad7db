//! Races inside a dispatcher, forced over every store.

use super::{Scene, ok, scene::spawn};
use crate::{
    conformance::{Actor, Harness, operators::operator},
    watched::{Moment, Verb, Watched},
};
use outbox_core::{
    Config, HandlerError, OnDead,
    store::{Store, StoreErrorKind},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

/// More calls than any law makes.
const ALL: usize = 1_000_000;

fn go_on(config: &mut Config) {
    config.topic.on_dead = Some(OnDead::Continue);
}

/// If the letter could not be written, somebody else would deliver its event after its successors
/// (interleaving 6).
pub async fn a_successor_waits_until_a_dead_letter_is_written<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let store = Watched::new(scene.harness.store());
    let gate = store.hold(Verb::Settle);
    for text in ["bad", "2"] {
        scene.emit("x", text).await;
    }
    let handle = |text: String, _| async move {
        match text.as_str() {
            "bad" => Err(HandlerError::dead("no")),
            _ => Ok(()),
        }
    };
    let dispatcher = spawn(scene.dispatcher_over(store, "d1", handle).configure(go_on));
    gate.reached(1).await;
    // It goes on with whatever may run.
    scene.emit("y", "other").await;
    scene.settled(2).await;
    assert_eq!(scene.seen("x"), [] as [&str; 0]);
    assert_eq!(scene.harness.dead().await, []);
    gate.pass(ALL);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["2"]);
    scene.history().assert_clean();
}

/// Its answer has the event still, which is forgotten only when a later one is back (interleaving 22).
/// After an operator's change everything is read again, whatever the database proves.
pub async fn what_was_settled_while_a_fetch_was_under_way_comes_no_more<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let store = Watched::new(scene.harness.store());
    let work = Arc::new(Semaphore::new(0));
    let opens = Arc::clone(&work);
    let handle = move |text: String, _| {
        let work = Arc::clone(&opens);
        async move {
            if text == "1" {
                drop(work.acquire().await);
            }
            Ok(())
        }
    };
    scene.emit("x", "1").await;
    let dispatcher = spawn(scene.dispatcher_over(store.clone(), "d1", handle));
    let in_work = || async { dispatcher.stats().in_work == 1 };
    scene.until("the event is in work", in_work).await;
    let gate = store.hold_answers(Verb::Fetch);
    gate.reached(1).await;
    let operator = operator(&*scene.harness);
    assert!(operator.pause("another", "a change").await.unwrap());
    // The second fetch shows the change, and the third one has read from the start.
    gate.pass(2);
    gate.reached(3).await;
    work.add_permits(1);
    let delivered = || async { scene.harness.delivered().await.len() == 1 };
    scene.until("it is settled", delivered).await;
    gate.pass(ALL);
    scene.emit("x", "2").await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "2"]);
    assert_eq!(scene.history().assert_clean().starts, 2);
}

/// Were the second written and the process killed, the first would come after it (interleaving 24).
pub async fn nothing_of_a_shard_is_written_before_what_came_first<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let store = Watched::new(scene.harness.store());
    for text in ["1", "2"] {
        scene.emit("x", text).await;
    }
    let positions = scene.harness.pending().await;
    let position = positions[0].position;
    store.fail(move |call| {
        let refused = call.moment == Moment::Before && call.settles(position);
        refused.then_some(StoreErrorKind::Unavailable)
    });
    let one_by_one = |config: &mut Config| config.settle_batch = 1;
    let builder = scene.dispatcher_over(store.clone(), "d1", ok);
    let dispatcher = spawn(builder.configure(one_by_one));
    scene.settled(2).await;
    let before = store.count(Verb::Settle);
    let tried = || async { store.count(Verb::Settle) >= before + 4 };
    scene.until("it is tried again and again", tried).await;
    assert_eq!(scene.harness.pending().await, positions);
    store.mend();
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 2);
}

/// Nothing but the answer to a settle tells that the shard is another's (interleaving 23).
pub async fn a_settle_that_was_refused_by_the_fence_ends_the_session<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let store = Watched::new(scene.harness.store());
    for text in ["1", "2"] {
        scene.emit("x", text).await;
    }
    let (calls, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let (called, opens) = (Arc::clone(&calls), Arc::clone(&gate));
    let handle = move |_: String, _| {
        let gate = Arc::clone(&opens);
        called.fetch_add(1, SeqCst);
        async move {
            drop(gate.acquire().await);
            Err(HandlerError::dead("no"))
        }
    };
    let lease = Duration::from_secs(600);
    let builder = scene.dispatcher_over(store.clone(), "d1", handle);
    let losing = spawn(builder.lease(lease).configure(go_on));
    let in_work = || async { calls.load(SeqCst) == 1 };
    scene.until("the first is in work", in_work).await;
    store.refuse(Verb::Fetch).await;
    let others = scene.harness.store();
    for member in others.members().await.unwrap() {
        assert!(others.evict(&member).await.unwrap());
    }
    let heir = Actor::owner(&*scene.harness).await;
    gate.add_permits(2);
    let told = || async { losing.stats().lease_lost == 1 };
    scene.until("it is told", told).await;
    assert_eq!(calls.load(SeqCst), 1, "nothing started after the refusal");
    assert_eq!(scene.harness.dead().await, []);
    assert_eq!(heir.rows().await.len(), 2);
    losing.abort().await;
}
