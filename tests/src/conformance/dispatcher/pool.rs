//! Dispatcher and handlers share a pool, which may be of one connection.

use super::{Account, Scene, ok, scene::spawn};
use crate::conformance::{Harness, Tables, as_advised, impatient, in_transactions};
use futures_util::future::join_all;
use outbox_core::HandlerError;
use outbox_seaorm::{SeaOrmStore, begin_immediate};
use sea_orm::{DatabaseConnection, DatabaseTransaction};
use std::{
    future::Future,
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

/// More handlers than connections begin transactions and emit in them, and neither they nor the
/// dispatcher wait for long (B036). No law: it needs pools of the same outbox, of a size.
pub async fn pools_of_any_size_are_enough_for_plain_handlers<H, Fut>(
    scene: &Scene<H>,
    open: impl Fn(u32) -> Fut,
) where
    H: Harness + 'static,
    Fut: Future<Output = DatabaseConnection>,
{
    let outbox = scene.harness.tables().unwrap().outbox;
    for (round, connections) in [1, 2].into_iter().enumerate() {
        let tables = Tables::new(&impatient(&open(connections).await).await, &outbox);
        let txn = begin_immediate(&tables.db).await.unwrap();
        for number in 0..60 {
            let key = format!("x{connections}-{}", number % 20);
            emit_in(scene, &tables, &txn, &key, "first").await.unwrap();
        }
        txn.commit().await.unwrap();
        let store = SeaOrmStore::new(&tables.db, &outbox);
        let name = format!("d{connections}");
        let emitter = scene.clone();
        let dispatcher = scene.dispatcher_over(store, &name, move |text, delivery| {
            let (emitter, tables) = (emitter.clone(), tables.clone());
            async move {
                if text == "first" {
                    let key = format!("y{}", delivery.key().unwrap_or_default());
                    let txn = begin_immediate(&tables.db).await?;
                    emit_in(&emitter, &tables, &txn, &key, "follow-up").await?;
                    txn.commit().await?;
                }
                Ok(())
            }
        });
        let dispatcher = spawn(dispatcher.configure(|config| config.concurrency = 8));
        scene.settled(120 * (round + 1)).await;
        scene.pending(0).await;
        assert_eq!(dispatcher.stats().retried, 0);
        dispatcher.shutdown().await;
    }
    assert_eq!(scene.history().assert_clean().starts, 240);
}

/// Emits in a transaction, and writes it down.
async fn emit_in<H>(
    scene: &Scene<H>,
    tables: &Tables,
    txn: &DatabaseTransaction,
    key: &str,
    text: &str,
) -> Result<(), HandlerError>
where
    H: Harness + 'static,
{
    let emitted = tables.outbox.emit(txn, Account::changed(key, text)).await?;
    scene.emitted(key, text, emitted.id());
    Ok(())
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
