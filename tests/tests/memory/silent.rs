//! A database that never answers a call. The time is virtual.

use super::harness::Memory;
use outbox_core::{CancellationToken, Config, Delivery, Draft, HandlerError, store::Store};
use outbox_tests::{
    conformance::{
        Harness,
        dispatcher::{Account, Scene, ok},
    },
    watched::{Verb, Watched},
};
use std::time::Duration;

/// Every call but the renewal, which has a thread and a connection of its own where there is a wire:
/// see `connections_that_fall_silent_are_replaced` for that.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_is_not_waited_for_for_ever() {
    let verbs = [
        Verb::Check,
        Verb::InProcess,
        Verb::Join,
        Verb::Members,
        Verb::Shards,
        Verb::Take,
        Verb::Paused,
        Verb::Blocked,
        Verb::Fetch,
        Verb::Read,
        Verb::Settle,
        Verb::MoveDue,
    ];
    for verb in verbs {
        let scene = Scene::over(Memory::new());
        let store = Watched::new(scene.harness.store());
        store.swallow(verb);
        let handle = |text: String, delivery: Delivery| async move {
            if text == "again" && delivery.attempt() == 1 {
                return Err(HandlerError::retry("once"));
            }
            Ok(())
        };
        let long = |config: &mut Config| config.bytes = 1_000;
        let builder = scene.dispatcher_over(store.clone(), "d1", handle);
        let dispatcher = builder.configure(long);
        let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
        scene.emit("x", "again").await;
        scene.emit("x", "2").await;
        emit(&scene, "long", Account::changed("y", &"3".repeat(10_000))).await;
        let later = Account::changed("z", "4").after(Duration::from_secs(1));
        emit(&scene, "later", later).await;
        let done = async {
            while scene.history().settled() < 4 || !scene.harness.pending().await.is_empty() {
                tokio::time::sleep(Duration::from_secs(1)).await;
                scene.log.by("d1").fault();
            }
        };
        let hour = Duration::from_secs(3_600);
        let done = tokio::time::timeout(hour, done).await;
        assert!(done.is_ok(), "{verb:?}: {}", store.count(verb));
        assert!(store.count(verb) > 1, "{verb:?} was tried again");
        dispatcher.shutdown().await;
        assert_eq!(
            scene.harness.store().members().await.unwrap(),
            [],
            "{verb:?}"
        );
        scene.history().assert_clean();
    }
}

/// For as long as a lease, and for five seconds where that is shorter: then another connection may
/// answer.
#[tokio::test(start_paused = true)]
async fn who_begins_waits_a_lease_and_at_least_five_seconds() {
    for (lease, limit) in [(1, 5), (30, 30)] {
        for verb in [Verb::Check, Verb::InProcess, Verb::Join] {
            let scene = Scene::over(Memory::new());
            let store = Watched::new(scene.harness.store());
            store.swallow(verb);
            let builder = scene.dispatcher_over(store.clone(), "d1", ok);
            let builder = builder.lease(Duration::from_secs(lease));
            let began = tokio::time::Instant::now();
            let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
            let again = || async { store.count(verb) > 1 };
            scene.until("it asks again", again).await;
            let waited = began.elapsed().as_secs();
            assert!((limit..limit + 3).contains(&waited), "{verb:?}: {waited} s");
            dispatcher.shutdown().await;
        }
    }
}

/// A stop waits for no answer either.
#[tokio::test(start_paused = true)]
async fn a_dispatcher_that_cannot_begin_stops_at_once() {
    for verb in [Verb::Check, Verb::InProcess, Verb::Join] {
        let scene = Scene::over(Memory::new());
        let store = Watched::new(scene.harness.store());
        let gate = store.hold(verb);
        let builder = scene.dispatcher_over(store, "d1", ok);
        let builder = builder.lease(Duration::from_secs(600));
        let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
        gate.reached(1).await;
        let began = tokio::time::Instant::now();
        dispatcher.shutdown().await;
        assert!(began.elapsed() < Duration::from_secs(1), "{verb:?}");
        gate.pass(1);
        let left = || async { scene.harness.store().members().await.unwrap().is_empty() };
        scene.until("a row that came late is gone", left).await;
    }
}

async fn emit(scene: &Scene<Memory>, text: &str, draft: Draft) {
    let id = scene.emit_draft(draft, text).await;
    scene
        .log
        .emitted(if text == "long" { "y" } else { "z" }, id);
}
