//! Races inside a dispatcher, forced over every store.

use super::{Scene, ok, scene::spawn};
use crate::{
    conformance::{Actor, Capability, Harness, membership::moved, operators::operator},
    watched::{Moment, Verb, Watched},
};
use outbox_core::{
    Config, HandlerError, OnDead,
    store::{Store, StoreErrorKind},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

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
    gate.open();
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
    gate.open();
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

/// Everybody looks expired then, until they have renewed; and whoever looks before that takes nothing away
/// (interleaving 20).
pub async fn a_jump_of_the_clock_hands_nothing_over<H: Harness + 'static>(scene: &Scene<H>) {
    let timed = !H::LACKS.contains(&Capability::TimedLease);
    let Some(tables) = scene.harness.tables().filter(|_| timed) else {
        return;
    };
    let lease = Duration::from_secs(6);
    let start = |name, store: &Watched<H::Store>| {
        let builder = scene.dispatcher_over(store.clone(), name, ok);
        spawn(builder.lease(lease))
    };
    let [owning, looking] = [(); 2].map(|()| Watched::new(scene.harness.store()));
    let observer = scene.harness.store();
    let first = start("d1", &owning);
    let begun = || async { owning.count(Verb::Fetch) > 0 };
    scene.until("it owns something", begun).await;
    let second = start("d2", &looking);
    let shared = || async {
        let (members, shards) = (observer.members().await, observer.shards().await.unwrap());
        let mut owned = BTreeMap::<_, usize>::new();
        for shard in shards.iter().filter(|shard| shard.held) {
            *owned.entry(shard.owner).or_default() += 1;
        }
        let share = shards.len().div_ceil(2);
        let all = owned.values().sum::<usize>() == shards.len();
        members.unwrap().len() == 2 && all && owned.values().all(|owned| *owned == share)
    };
    scene.until("they share the shards", shared).await;
    let shards = observer.shards().await.unwrap();
    let members = || async {
        let members = observer.members().await.unwrap().into_iter();
        members.map(|view| view.id).collect::<BTreeSet<_>>()
    };
    let before = members().await;
    // The first, who owns what cannot be shared, does not renew before the other one has looked.
    let renewals = owning.hold(Verb::Renew);
    renewals.reached(1).await;
    let looks = looking.hold_answers(Verb::Members);
    tables.run(&moved(tables.backend(), -1)).await;
    looks.reached(1).await;
    let asked = looking.count(Verb::Shards);
    looks.open();
    let decided = || async { looking.count(Verb::Shards) > asked };
    scene.until("it has decided who is gone", decided).await;
    renewals.open();
    tokio::time::sleep(lease + lease / 6).await;
    assert_eq!(members().await, before);
    assert_eq!(observer.shards().await.unwrap(), shards);
    for dispatcher in [first, second] {
        assert_eq!(dispatcher.stats().lease_lost, 0);
        dispatcher.shutdown().await;
    }
}
