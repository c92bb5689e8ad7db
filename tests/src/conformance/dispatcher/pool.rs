//! Dispatcher and handlers share a pool, which may be of one connection.

use super::{Account, Scene, ok, scene::spawn};
use crate::conformance::{Harness, Tables, as_advised, in_transactions};
use futures_util::future::join_all;
use outbox_seaorm::begin_immediate;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::Notify, task::yield_now};
use uuid::Uuid;

/// A handler may open a transaction and emit in it.
pub async fn handlers_use_the_pool_that_they_are_delivered_from<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    for number in 0..30 {
        scene.emit(&format!("x{}", number % 10), "first").await;
    }
    let emitter = scene.clone();
    let dispatcher = spawn(scene.dispatcher("d1", move |text, delivery| {
        let emitter = emitter.clone();
        async move {
            if text == "first" {
                let key = format!("y{}", delivery.key().unwrap_or_default());
                emitter.emit(&key, "follow-up").await;
                emitter.harness.pending().await;
            }
            Ok(())
        }
    }));
    scene.settled(60).await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 60);
}

/// Everybody else may use them all.
pub async fn no_connection_is_held_while_a_handler_runs<H: Harness + 'static>(scene: &Scene<H>) {
    for key in ["x", "y", "z"] {
        scene.emit(key, "1").await;
    }
    let go_on = Arc::new(Notify::new());
    let waiting = Arc::clone(&go_on);
    let dispatcher = spawn(scene.dispatcher("d1", move |text, _| {
        let waiting = Arc::clone(&waiting);
        async move {
            if text == "1" {
                waiting.notified().await;
            }
            Ok(())
        }
    }));
    let running = || async { dispatcher.stats().in_work == 3 };
    scene.until("all handlers run", running).await;
    scene.emit("other", "2").await;
    scene.pending(3).await;
    scene.harness.pass(Duration::from_millis(100)).await;
    assert_eq!(scene.seen("other"), ["2"]);
    for _ in 0..3 {
        go_on.notify_one();
    }
    scene.settled(4).await;
    dispatcher.shutdown().await;
    scene.history().assert_clean();
}

/// By their time limit and by hard stops, wherever they are in a transaction: none is left open, and
/// none that was committed is lost with it (B030).
pub async fn handlers_that_are_dropped_leave_the_pool_as_it_was<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    let tables = Tables::new(&as_advised(&tables.db).await, &tables.outbox);
    for key in ["x", "y"] {
        scene.emit(key, "1").await;
    }
    let committed = Committed::default();
    for round in 0..6 {
        let (tables, committed) = (tables.clone(), Arc::clone(&committed));
        let handle = move |_, _| {
            let (tables, committed) = (tables.clone(), Arc::clone(&committed));
            async move {
                join_all((0..3).map(|_| emit_for_ever(&tables, &committed))).await;
                Ok(())
            }
        };
        let limit = Duration::from_millis(3 + 5 * round);
        let dropping = scene.dispatcher(&format!("d{round}"), handle);
        let dropping = spawn(dropping.configure(move |config| config.topic.timeout = limit));
        let dropped = || async { dropping.stats().retried >= 10 };
        scene.until("ten are dropped", dropped).await;
        dropping.abort().await;
    }
    assert_eq!(in_transactions(&tables.db).await, 0);
    let stored = scene.harness.delayed().await;
    let committed = committed.lock().unwrap().clone();
    assert!(committed.len() > 20, "{}", committed.len());
    let lost: Vec<_> = committed.iter().filter(|id| !stored.contains(id)).collect();
    assert!(lost.is_empty(), "{lost:?} of {}", committed.len());
    let dispatcher = spawn(scene.dispatcher("last", ok));
    scene.pending(0).await;
    dispatcher.shutdown().await;
}

type Committed = Arc<Mutex<Vec<Uuid>>>;

/// Emits what nobody is to get in this test, and notes what was committed.
async fn emit_for_ever(tables: &Tables, committed: &Committed) {
    loop {
        yield_now().await;
        let Ok(txn) = begin_immediate(&tables.db).await else {
            continue;
        };
        let event = Account::changed("z", "1").after(Duration::from_secs(3_600));
        let Ok(emitted) = tables.outbox.emit(&txn, event).await else {
            continue;
        };
        if txn.commit().await.is_ok() {
            committed.lock().unwrap().push(emitted.id());
        }
    }
}
