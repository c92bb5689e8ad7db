//! Chance as the adversary.

use super::{Account, Scene, chance::Chance, scene::spawn};
use crate::{
    conformance::{Actor, Harness},
    watched::{Verb, Watched},
};
use outbox_core::{Delivery, DispatcherHandle, HandlerError, store::Store};
use sea_orm::{ConnectionTrait, DatabaseConnection, TransactionTrait};
use std::{future::Future, sync::Arc, time::Duration};
use tokio::sync::watch;

fn start<H: Harness + 'static>(
    scene: &Scene<H>,
    name: &str,
    chance: &Arc<Chance>,
) -> DispatcherHandle {
    let chance = Arc::clone(chance);
    let handle = move |_: String, _: Delivery| {
        let (pause, fails) = (chance.below(8), chance.below(10) == 0);
        async move {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            if fails {
                return Err(HandlerError::retry("chance"));
            }
            Ok(())
        }
    };
    let small = |config: &mut outbox_core::Config| (config.window, config.batch) = (40, 10);
    let builder = scene.dispatcher(name, handle).configure(small);
    spawn(builder.lease(Duration::from_secs(1)))
}

/// Two dispatchers at a time; one of them stops, gently or not, and another takes its place.
pub async fn random_failures_and_restarts_never_reorder<H: Harness + 'static>(scene: &Scene<H>) {
    let chance = Arc::new(Chance::new(42));
    let mut running: Vec<(String, DispatcherHandle)> = Vec::new();
    let mut emitted = 0;
    for round in 0..12 {
        for _ in 0..40 {
            let key = format!("x{}", chance.below(6));
            scene.emit(&key, &emitted.to_string()).await;
            emitted += 1;
        }
        let name = format!("d{round}");
        let dispatcher = start(scene, &name, &chance);
        running.push((name, dispatcher));
        tokio::time::sleep(Duration::from_millis(chance.below(300))).await;
        if running.len() == 2 {
            let index = usize::try_from(chance.below(2)).unwrap();
            let (name, dispatcher) = running.remove(index);
            if chance.below(2) == 0 {
                dispatcher.shutdown().await;
            } else {
                scene.log.by(&name).fault();
                dispatcher.abort().await;
            }
        }
    }
    scene.settled(emitted).await;
    scene.pending(0).await;
    for (_, dispatcher) in running {
        dispatcher.shutdown().await;
    }
    assert_eq!(scene.history().assert_clean().events, emitted);
}

/// A settle with two events of an aggregate is on its way when somebody else takes over and repeats
/// the first one. If it took out the second, nobody would repeat that: its effect would stand before
/// its predecessor's.
pub async fn what_a_former_owner_delivered_is_repeated_whole<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let lease = Duration::from_secs(600);
    scene.emit("y", "before").await;
    scene.emit("x", "1").await;
    // Too long to be read before it is its turn.
    let second = Account::changed("x", &"2".repeat(100_000));
    let second = scene.emit_draft(second, "2").await;
    scene.log.emitted("x", second);

    let store = Watched::new(scene.harness.store());
    let gate = store.hold(Verb::Settle);
    let settling = gate.clone();
    let handle = move |text: String, _| {
        let settling = settling.clone();
        async move {
            if text == "1" {
                settling.reached(1).await;
            }
            Ok(())
        }
    };
    let former = spawn(scene.dispatcher_over(store, "d1", handle).lease(lease));
    let both = || async { scene.seen("x") == ["1", "2"] && former.stats().in_work == 0 };
    scene.until("both are delivered", both).await;
    gate.pass(1);
    gate.reached(2).await;

    scene.log.by("d1").fault();
    let store = scene.harness.store();
    for member in store.members().await.unwrap() {
        assert!(store.evict(&member).await.unwrap());
    }
    let (go_on, goes_on) = watch::channel(false);
    let handle = move |text: String, _| {
        let mut goes_on = goes_on.clone();
        async move {
            if text == "1" {
                let _ = goes_on.wait_for(|goes_on| *goes_on).await;
            }
            Ok(())
        }
    };
    let heir = spawn(scene.dispatcher("d2", handle).lease(lease));
    let repeats = || async { heir.stats().in_work == 1 };
    scene.until("the first one is repeated", repeats).await;
    gate.open();
    let over = || async { former.stats().lease_lost == 1 };
    scene.until("the former owner knows", over).await;
    go_on.send_replace(true);
    scene.pending(0).await;
    for dispatcher in [former, heir] {
        dispatcher.shutdown().await;
    }
    assert_eq!(scene.seen("x"), ["1", "2", "1", "2"]);
    assert_eq!(scene.history().assert_clean().duplicates, 2);
}

/// A server of the test's own dies in the middle of everything and comes back (interleaving 27). No
/// law: there is no server behind every store, and those that all tests share are left alone.
pub async fn a_restarted_server_is_seen_and_loses_and_reorders_nothing<H: Harness + 'static>(
    scene: &Scene<H>,
    restart: impl FnOnce() + Send + 'static,
) {
    let before = revisions(scene).await;
    for number in 0..150 {
        let key = format!("x{}", number % 10);
        scene.emit(&key, &number.to_string()).await;
    }
    let slow = |_, _| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(())
    };
    let dispatcher = spawn(scene.dispatcher("d1", slow).concurrency(4));
    scene.settled(20).await;
    scene.log.by("d1").fault();
    tokio::task::spawn_blocking(restart).await.unwrap();
    scene.log.by("d1").fault();
    for number in 150..200 {
        let key = format!("x{}", number % 10);
        scene.emit(&key, &number.to_string()).await;
    }
    scene.settled(200).await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().events, 200);
    let after = revisions(scene).await;
    let kept = before
        .iter()
        .zip(&after)
        .any(|(before, after)| before == after);
    assert!(!kept, "positions may have been given out again");
}

/// All connections of a dispatcher, that of its heartbeat too, are dead without anybody being told:
/// it goes on with new ones. No law, as there is no wire before every store.
pub async fn connections_that_fall_silent_are_replaced<H: Harness + 'static>(
    scene: &Scene<H>,
    through: H::Store,
    silence: impl Fn(),
) {
    let lease = Duration::from_secs(2);
    let slow = |_, _| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(())
    };
    let builder = scene.dispatcher_over(through, "d1", slow);
    let dispatcher = spawn(builder.lease(lease).concurrency(4));
    for round in 0..2 {
        for number in 0..100 {
            let key = format!("x{}", number % 10);
            scene.emit(&key, &format!("{round} {number}")).await;
        }
        scene.settled(round * 100 + 20).await;
        scene.log.by("d1").fault();
        silence();
        let lost = || async { dispatcher.stats().lease_lost > round as u64 };
        scene.until("it knows", lost).await;
        scene.log.by("d1").fault();
        scene.settled((round + 1) * 100).await;
        scene.pending(0).await;
    }
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().events, 200);
}

/// Sessions that can only be read for good, as when their server has become a replica, while those
/// that begin from then on can be written: before it joins, while it settles, and when all that is
/// to be written is what falls due. No law: nobody spoils the sessions of every store.
pub async fn sessions_that_can_only_be_read_are_replaced<H, Fut>(
    scene: &Scene<H>,
    through: H::Store,
    spoil: impl Fn() -> Fut,
) where
    H: Harness + 'static,
    Fut: Future<Output = ()>,
{
    spoil().await;
    let slow = |_, _| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(())
    };
    let before = scene.history().settled();
    let builder = scene.dispatcher_over(through, "d1", slow);
    let dispatcher = spawn(builder.lease(Duration::from_secs(6)).concurrency(4));
    for number in 0..100 {
        let key = format!("x{}", number % 10);
        scene.emit(&key, &number.to_string()).await;
    }
    scene.settled(before + 20).await;
    spoil().await;
    scene.settled(before + 100).await;
    scene.pending(0).await;
    let due = Account::changed("y", "due").after(Duration::from_secs(1));
    let due = scene.emit_draft(due, "due").await;
    scene.log.emitted("y", due);
    spoil().await;
    scene.settled(before + 101).await;
    scene.pending(0).await;
    let stats = dispatcher.stats();
    assert_eq!((stats.retried, stats.lease_lost), (0, 0));
    dispatcher.shutdown().await;
    let delivered = scene.harness.delivered().await;
    assert_eq!(delivered.len(), scene.history().assert_clean().events);
    assert!(delivered.iter().all(|row| row.attempts == 0));
}

/// Runs a statement in each session of a pool of this size.
pub async fn in_all_sessions(db: &DatabaseConnection, connections: usize, sql: &str) {
    let mut all = Vec::new();
    for _ in 0..connections {
        let txn = db.begin().await.unwrap();
        txn.execute_unprepared(sql).await.unwrap();
        all.push(txn);
    }
    for txn in all {
        txn.commit().await.unwrap();
    }
}

/// Of each shard.
async fn revisions<H: Harness>(scene: &Scene<H>) -> Vec<i64> {
    let owner = Actor::owner(&*scene.harness).await;
    let mut shards = owner.fetch().await.shards;
    shards.sort_unstable_by_key(|seen| seen.shard);
    owner.store.leave(owner.member.id).await.unwrap();
    shards.iter().map(|seen| seen.revision).collect()
}
