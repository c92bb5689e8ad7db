//! What a dispatcher asks of its database, in counts.

use super::{Scene, ok, scene::spawn};
use crate::{
    conformance::Harness,
    watched::{Verb, Watched},
};
use std::time::Duration;

/// Row changes of a membership: join, take, release, leave, and a renewal on a slow machine.
const MEMBERSHIP: i64 = 8;

/// One where it was, one in the history. Reading changes nothing.
pub async fn a_delivered_event_costs_two_row_changes<H: Harness + 'static>(scene: &Scene<H>) {
    for number in 0..100 {
        scene.emit(&format!("x{}", number % 7), "1").await;
    }
    let Some(before) = scene.harness.changes().await else {
        return;
    };
    let dispatcher = scene.dispatcher("d1", ok).build().unwrap();
    let minute = Duration::from_secs(60);
    let summary = dispatcher.run_until_idle(minute).await.unwrap();
    assert_eq!((summary.delivered, summary.idle), (100, true));
    let delivered = scene.harness.changes().await.unwrap_or_default();
    let changes = delivered - before;
    assert!((200..=200 + MEMBERSHIP).contains(&changes), "{changes}");
    dispatcher.run_until_idle(minute).await.unwrap();
    let idle = scene.harness.changes().await.unwrap_or_default() - delivered;
    assert!(idle <= MEMBERSHIP, "{idle}");
}

/// A poll a second, and a heartbeat and a look around at a third of the lease.
pub async fn an_idle_dispatcher_hardly_asks_and_writes_only_its_lease<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let store = Watched::new(scene.harness.store()).deaf();
    let builder = scene.dispatcher_over(store.clone(), "d1", ok);
    let dispatcher = spawn(builder.lease(Duration::from_secs(3)));
    scene.emit("x", "1").await;
    scene.pending(0).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    store.take_counts();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let counts = store.take_counts();
    dispatcher.shutdown().await;
    for (verb, count) in counts {
        let most = match verb {
            // From 750 ms on, and once for every look around.
            Verb::Fetch => 12,
            Verb::Renew | Verb::Members | Verb::Shards => 6,
            _ => 0,
        };
        assert!(count <= most, "{verb:?}: {count} times");
    }
}
