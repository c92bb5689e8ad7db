//! What a dispatcher asks of its database, in counts.

use super::{Account, Scene, ok, scene::spawn};
use crate::{
    conformance::{Harness, RowChanges, Trace},
    watched::{Verb, Watched},
};
use outbox_core::HandlerError;
use sea_orm::TransactionTrait;
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;

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
            // Once a minute, three tables.
            Verb::Prune => 3,
            _ => 0,
        };
        assert!(count <= most, "{verb:?}: {count} times");
    }
}

/// Once a poll it asks whether shards have become free.
pub async fn a_standby_asks_only_for_what_is_free<H: Harness + 'static>(scene: &Scene<H>) {
    let owner = spawn(scene.dispatcher("d1", ok).lease(Duration::from_secs(600)));
    scene.emit("x", "1").await;
    scene.pending(0).await;
    let store = Watched::new(scene.harness.store()).deaf();
    let builder = scene.dispatcher_over(store.clone(), "d2", ok);
    let standby = spawn(builder.lease(Duration::from_secs(3)));
    let joined = || async { store.count(Verb::Shards) > 0 };
    scene.until("it has looked", joined).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    store.take_counts();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let counts = store.take_counts();
    for dispatcher in [owner, standby] {
        dispatcher.shutdown().await;
    }
    for (verb, count) in counts {
        let most = match verb {
            Verb::Renew | Verb::Members => 6,
            // With each look around, and from 750 ms on.
            Verb::Shards => 6 + 6,
            _ => 0,
        };
        assert!(count <= most, "{verb:?}: {count} times");
    }
}

/// Nothing else is read, locked or written for it.
pub async fn an_emit_is_one_statement_and_one_row<H: Harness + 'static>(scene: &Scene<H>) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    let changes = RowChanges::of(&tables).await;
    let (db, trace) = Trace::of(&tables.db);
    for (delay, change) in [(0, "INSERT outbox_event"), (60, "INSERT outbox_delayed")] {
        let txn = db.begin().await.unwrap();
        let mut event = Account::changed("x", "1");
        if delay > 0 {
            event = event.after(Duration::from_secs(delay));
        }
        tables.outbox.emit(&txn, event).await.unwrap();
        txn.commit().await.unwrap();
        let sent = trace.take();
        assert!(sent.len() == 1 && sent[0].starts_with("INSERT"), "{sent:?}");
        assert_eq!(changes.take().await, [change]);
    }
}

/// A crash at any moment leaves an event as if nobody had touched it. Afterwards a success is a row
/// deleted and a row of the history, a failed attempt a row changed.
pub async fn nothing_is_written_before_an_outcome<H: Harness + 'static>(scene: &Scene<H>) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    for key in ["good", "late", "bad"] {
        scene.emit(key, key).await;
    }
    let changes = RowChanges::of(&tables).await;
    let gate = Arc::new(Semaphore::new(0));
    let opens = Arc::clone(&gate);
    let store = Watched::new(scene.harness.store());
    let dispatcher = spawn(
        scene.dispatcher_over(store.clone(), "d1", move |text, delivery| {
            let gate = Arc::clone(&opens);
            async move {
                drop(gate.acquire().await);
                match (&*text, delivery.attempt()) {
                    ("late", 1) => Err(HandlerError::retry("once")),
                    ("bad", _) => Err(HandlerError::dead("no")),
                    _ => Ok(()),
                }
            }
        }),
    );
    let running = || async { dispatcher.stats().in_work == 3 };
    scene.until("all handlers run", running).await;
    assert_eq!(changes.take().await, [] as [&str; 0]);
    // Nor is there a statement that would write, and found nothing to.
    for verb in [
        Verb::Settle,
        Verb::MoveDue,
        Verb::MarkCrashes,
        Verb::Claim,
        Verb::Complete,
    ] {
        assert_eq!(store.count(verb), 0, "{verb:?}");
    }
    gate.add_permits(3);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    let mut written = changes.take().await;
    written.sort_unstable();
    assert_eq!(
        written,
        [
            "DELETE outbox_event",
            "DELETE outbox_event",
            "DELETE outbox_event",
            "INSERT outbox_dead",
            "INSERT outbox_delivered",
            "INSERT outbox_delivered",
            "UPDATE outbox_event",
        ]
    );
}
