//! A store that fails in one place.

use crate::{faulty::Faulty, support::*};
use outbox_core::{
    CancellationToken, Delivery, Dispatcher, Draft, HandlerError, MemoryStore, OutboxEvent,
    store::StoreErrorKind,
};
use serde::{Deserialize, Serialize};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::Instant;

async fn done(_: Order, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

/// How long a dispatcher takes, in virtual time, for a hundred tries of a verb that fails.
async fn a_hundred_failures(of: &'static str) -> Duration {
    let (store, tries) = (MemoryStore::new(), AtomicUsize::new(0));
    let later = Draft::new(&step(1, 1)).after(Duration::from_secs(1));
    store.emit(later).unwrap();
    let faulty = Faulty::new(&store, move |verb| {
        let fail = verb == of && tries.fetch_add(1, SeqCst) < 100;
        fail.then_some(StoreErrorKind::Unavailable)
    });
    let start = Instant::now();
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(done)
        .spawn(CancellationToken::new())
        .unwrap();
    until("delivered", || store.delivered().len() == 1).await;
    dispatcher.shutdown().await;
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_dispatcher_does_not_hurry_while_the_database_fails() {
    for verb in [
        "check", "join", "members", "shards", "take", "blocked", "fetch", "move_due",
    ] {
        let took = a_hundred_failures(verb).await;
        assert!(took > Duration::from_secs(30), "{verb}: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_outcome_is_tried_again_while_others_keep_coming() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let refusals = AtomicUsize::new(0);
    let mut faulty = Faulty::new(&store, move |verb| {
        // The first event's outcome, alone as it is.
        let refuse = verb == "settle" && refusals.fetch_add(1, SeqCst) == 0;
        refuse.then_some(StoreErrorKind::Refused)
    });
    faulty.settling = Duration::from_millis(50);
    let log_ = log.clone();
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(move |event: Order, _: Delivery| {
            let log = log_.clone();
            async move {
                if let Order::Step { order, step } = event {
                    log.push(order, step);
                }
                Ok(())
            }
        })
        .spawn(CancellationToken::new())
        .unwrap();
    store.emit(step(1, 1)).unwrap();
    until("the first", || log.len() == 1).await;
    pass(1).await;
    store.emit(step(1, 2)).unwrap();
    for number in 0..3_000 {
        store.emit(mail(2, number)).unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(log.of(1), [1, 2]);
    dispatcher.abort().await;
}

#[tokio::test(start_paused = true)]
async fn delayed_events_that_cannot_be_moved_hold_back_no_others() {
    let store = MemoryStore::new();
    store
        .emit(Draft::new(&step(1, 1)).after(Duration::from_secs(1)))
        .unwrap();
    let faulty = Faulty::new(&store, |verb| {
        (verb == "move_due").then_some(StoreErrorKind::Refused)
    });
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(done)
        .spawn(CancellationToken::new())
        .unwrap();
    pass(5).await;
    store.emit(step(2, 1)).unwrap();
    until("the other", || store.delivered().len() == 1).await;
    dispatcher.shutdown().await;
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "unreadable", crate = outbox_core)]
struct Long {
    #[outbox(key)]
    id: u32,
    text: String,
}

#[tokio::test(start_paused = true)]
async fn a_long_payload_that_turns_out_unreadable_holds_back_its_aggregate() {
    let store = MemoryStore::new();
    let long = |id| Long {
        id,
        text: "x".repeat(10_000),
    };
    store.emit_all([long(1), long(1), long(2)]).unwrap();
    let dispatcher = Dispatcher::<Faulty>::builder(Faulty::new(&store, |_| None))
        .on_event(|_: Long, _: Delivery| async { Ok(()) })
        .spawn(CancellationToken::new())
        .unwrap();
    pass(60).await;
    let pending = store.pending();
    let left: Vec<_> = pending.iter().map(|event| event.event.position).collect();
    assert_eq!(left, [1, 2]);
    assert_eq!(dispatcher.stats().unreadable, 1);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_costs_a_session_and_no_more() {
    for panicking in ["settle", "fetch", "shards", "take", "members"] {
        let (store, tries) = (MemoryStore::new(), AtomicUsize::new(0));
        store.emit(step(1, 1)).unwrap();
        let held = Arc::new(());
        let holds = Arc::clone(&held);
        let faulty = Faulty::new(&store, move |verb| {
            let _ = &holds;
            assert!(
                verb != panicking || tries.fetch_add(1, SeqCst) > 0,
                "{verb}"
            );
            None
        });
        let dispatcher = Dispatcher::<Faulty>::builder(faulty)
            .on_event(done)
            .spawn(CancellationToken::new())
            .unwrap();
        until("delivered", || store.delivered().len() == 1).await;
        dispatcher.shutdown().await;
        // Neither does a task of that session go on for ever.
        until("all tasks over", || Arc::strong_count(&held) == 1).await;
    }
}

/// The heartbeat alone would keep what nobody works on; and a reader that waits must not keep the
/// handlers from being dropped.
#[tokio::test(start_paused = true)]
async fn a_loop_that_is_stuck_lets_the_lease_and_its_handlers_go() {
    let store = MemoryStore::new();
    let stuck = Faulty::new(&store, |_| None);
    let running = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&running);
    let hang = move |_: Order, _: Delivery| {
        let running = Running::new(&handler);
        async move {
            let _running = running;
            std::future::pending().await
        }
    };
    let builder = Dispatcher::<Faulty>::builder(stuck.clone()).on_event(hang);
    let first = builder.spawn(CancellationToken::new()).unwrap();
    store.emit(step(1, 1)).unwrap();
    until("in work", || running.load(SeqCst)).await;
    stuck.stuck.store(true, SeqCst);
    pass(50).await;
    assert!(running.load(SeqCst), "the loop may only be slow");
    assert!(first.is_live());
    until("dropped", || !running.load(SeqCst)).await;
    until("told", || first.stats().lease_lost == 1).await;
    let heir = Dispatcher::<Faulty>::builder(Faulty::new(&store, |_| None)).on_event(done);
    let heir = heir.spawn(CancellationToken::new()).unwrap();
    until("taken over", || store.delivered().len() == 1).await;
    assert!(heir.is_live());
    heir.shutdown().await;
    assert!(!heir.is_live());
    assert_eq!(first.stats().lease_lost, 1);
    drop(first);
}

/// Whether a handler runs.
struct Running(Arc<AtomicBool>);

impl Running {
    fn new(flag: &Arc<AtomicBool>) -> Self {
        flag.store(true, SeqCst);
        Self(Arc::clone(flag))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(false, SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_whose_place_is_taken_holds_back_its_aggregate() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all([step(1, 1), step(1, 2), step(2, 1)])
        .unwrap();
    let mut faulty = Faulty::new(&store, |_| None);
    faulty.buries_nothing = true;
    let calls = log.clone();
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(move |event: Order, _: Delivery| {
            let log = calls.clone();
            async move {
                if let Order::Step { order, step } = event {
                    log.push(order, step);
                }
                Err(HandlerError::dead("no"))
            }
        })
        .spawn(CancellationToken::new())
        .unwrap();
    pass(600).await;
    assert_eq!((log.of(1), log.of(2)), (vec![1], vec![1]));
    assert_eq!(store.pending().len(), 3);
    dispatcher.abort().await;
}
