//! Who deletes what was kept for long enough, and when. The time is virtual.

use super::harness::Memory;
use outbox_core::{BoxError, Config, DispatcherHandle, store::Delivered};
use outbox_tests::{
    conformance::{
        Harness,
        dispatcher::{Scene, ok},
    },
    watched::{Verb, Watched},
};
use std::{sync::Arc, time::Duration};

const SECOND: Duration = Duration::from_secs(1);

type Store = Watched<<Memory as Harness>::Store>;

fn start(scene: &Scene<Memory>, name: &str, store: &Store, archives: bool) -> DispatcherHandle {
    async fn archive(_: Vec<Delivered>) -> Result<(), BoxError> {
        Ok(())
    }
    let dispatcher = scene.dispatcher_over(store.clone(), name, ok);
    let dispatcher = dispatcher.configure(|config: &mut Config| {
        config.retention.delivered = Some(SECOND);
        config.retention.every = SECOND * 10;
        if archives {
            config.retention.archive = Some(Arc::new(archive));
        }
    });
    dispatcher
        .spawn(outbox_core::CancellationToken::new())
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_does_not_end_it() {
    for verb in [Verb::Prune, Verb::Expired, Verb::Forget] {
        let scene = Scene::over(Memory::new());
        let store = Watched::new(scene.harness.store());
        store.swallow(verb);
        let dispatcher = start(&scene, "d1", &store, verb != Verb::Prune);
        scene.emit("x", "1").await;
        scene.settled(1).await;
        tokio::time::sleep(SECOND * 600).await;
        assert!(store.count(verb) > 1, "{verb:?}");
        assert_eq!(scene.harness.delivered().await, [], "{verb:?}");
        dispatcher.shutdown().await;
    }
}

/// And when it is gone another one does it.
#[tokio::test(start_paused = true)]
async fn one_of_the_fleet_does_it() {
    let scene = Scene::over(Memory::new());
    let mut fleet = Vec::new();
    for name in ["d1", "d2", "d3"] {
        let store = Watched::new(scene.harness.store());
        let dispatcher = start(&scene, name, &store, false);
        fleet.push((store, dispatcher));
        tokio::time::sleep(SECOND * 60).await;
    }
    while !fleet.is_empty() {
        fleet.iter().for_each(|(store, _)| {
            store.take_counts();
        });
        tokio::time::sleep(SECOND * 100).await;
        let prunes = |(store, _): &(Store, _)| store.count(Verb::Prune) > 0;
        let who: Vec<_> = (0..fleet.len())
            .filter(|one| prunes(&fleet[*one]))
            .collect();
        assert_eq!(who.len(), 1, "of {}", fleet.len());
        let (_, dispatcher) = fleet.remove(who[0]);
        dispatcher.shutdown().await;
        // What was its share is taken over.
        tokio::time::sleep(SECOND * 60).await;
    }
}
