use crate::{faulty::Faulty, support::*};
use outbox_core::{
    CancellationToken, Dispatcher, MemoryStore,
    store::{DeadReason, Store},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn one_delivers_and_the_other_stands_by() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let first = spawn(dispatcher(&store, &log, ok));
    pass(1).await;
    let second = spawn(dispatcher(&store, &log, ok));
    store
        .emit_all((1..=100).map(|order| step(order, 1)))
        .unwrap();
    until("all", || log.len() == 100).await;
    pass(60).await;
    assert_eq!(
        (first.stats().delivered, second.stats().delivered),
        (100, 0)
    );
    first.shutdown().await;
    store.emit(step(1, 2)).unwrap();
    until("the other one takes over", || log.len() == 101).await;
    until("written", || second.stats().delivered == 1).await;
    second.shutdown().await;
}

/// A dispatcher whose process dies: nothing is given up, nothing runs any more.
async fn crash(handle: outbox_core::DispatcherBuilder<MemoryStore>, after: Duration) {
    let dispatcher = handle.build().unwrap();
    let runtime = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let handle = dispatcher.spawn(outbox_core::CancellationToken::new());
            tokio::time::sleep(after).await;
            drop(handle);
        });
        runtime.shutdown_background();
    });
    tokio::task::spawn_blocking(move || runtime.join().unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_dead_dispatcher_is_replaced_and_its_events_are_delivered_again() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((1..=3).map(|number| step(1, number)))
        .unwrap();
    let lease = Duration::from_millis(300);
    let hang = |_, _, _| std::future::pending();
    crash(
        dispatcher(&store, &log, hang).lease(lease),
        Duration::from_millis(200),
    )
    .await;
    let start = Instant::now();
    let second = spawn(dispatcher(&store, &log, ok).lease(lease));
    until("taken over", || log.len() == 3).await;
    assert!(
        start.elapsed() > Duration::from_secs(1),
        "after a second look only"
    );
    assert_eq!(log.of(1), [1, 2, 3]);
    second.shutdown().await;
}

#[tokio::test]
async fn an_event_that_kills_its_process_becomes_a_dead_letter_and_its_neighbours_do_not() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let lease = Duration::from_millis(100);
    store
        .emit_all((1..=30).map(|order| step(order, 1)))
        .unwrap();
    for round in 0..3 {
        let handle = dispatcher(&store, &log, |_, _, _| std::future::pending());
        // Long enough for the take-over: a third of the lease and a second.
        let life = Duration::from_millis(1_500);
        crash(handle.lease(lease).concurrency(4), life).await;
        let crashes: Vec<_> = store.pending().iter().map(|event| event.crashes).collect();
        let marked = crashes.iter().filter(|crashes| **crashes > 0).count();
        assert_eq!(
            (crashes[0], marked),
            (round, if round == 0 { 0 } else { 4 })
        );
    }
    let last = spawn(dispatcher(&store, &log, ok).lease(lease));
    until("settled", || store.pending().is_empty()).await;
    assert_eq!(log.len(), 29, "its neighbours were delivered");
    let dead = store.dead();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].reason, DeadReason::Crashed);
    assert_eq!((dead[0].event.position, dead[0].event.attempts), (1, 0));
    last.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn losing_the_lease_drops_handlers_and_starts_anew() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all([step(1, 1), step(1, 2)]).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let calls_ = Arc::clone(&calls);
    let dispatcher = spawn(dispatcher(&store, &log, move |_, _, _| {
        let first = calls_.fetch_add(1, SeqCst) == 0;
        async move {
            if first {
                std::future::pending().await
            } else {
                Ok(())
            }
        }
    }));
    until("in work", || calls.load(SeqCst) == 1).await;
    for member in store.members().await.unwrap() {
        assert!(store.evict(&member).await.unwrap());
    }
    until("delivered in a new session", || log.len() == 2).await;
    assert_eq!(log.of(1), [1, 2]);
    assert_eq!(dispatcher.stats().lease_lost, 1);
    assert!(store.delivered().iter().all(|event| event.attempts == 0));
    dispatcher.shutdown().await;
}

#[tokio::test]
async fn nothing_is_started_after_the_lease_is_over() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all([step(1, 1), step(1, 2)]).unwrap();
    let epochs: Arc<std::sync::Mutex<Vec<_>>> = Arc::default();
    let (seen, theirs) = (Arc::clone(&epochs), store.clone());
    let handle = dispatcher(&store, &log, move |_, step, delivery| {
        seen.lock().unwrap().push(delivery.epoch());
        let store = theirs.clone();
        async move {
            if step == 1 {
                // As in a process that is stopped and goes on, while others have taken over.
                let (_sender, never) = std::sync::mpsc::channel::<()>();
                let _ = never.recv_timeout(Duration::from_millis(400));
                for member in store.members().await? {
                    store.evict(&member).await?;
                }
            }
            Ok(())
        }
    });
    let dispatcher = spawn(handle.lease(Duration::from_millis(200)));
    until("delivered", || store.delivered().len() == 2).await;
    let epochs = epochs.lock().unwrap().clone();
    assert!(epochs[0] < epochs[1], "{epochs:?}");
    dispatcher.shutdown().await;
}

#[tokio::test]
async fn a_heartbeat_that_was_slow_to_connect_still_renews_in_time() {
    let mut store = Faulty::new(&MemoryStore::new(), |_| None);
    // A third of the lease later it would be over.
    store.connecting = Some(Duration::from_millis(1_600));
    let lease = Duration::from_secs(2);
    let builder = Dispatcher::<Faulty>::builder(store)
        .on_event(|_: Order, _| async { Ok(()) })
        .lease(lease);
    let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
    tokio::time::sleep(lease + lease / 10).await;
    assert_eq!(dispatcher.stats().lease_lost, 0);
    dispatcher.shutdown().await;
}

/// How many threads of this process keep a lease.
fn heartbeats() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("outbox-heartbea"))
        .count()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_heartbeat_that_hangs_while_it_connects_ends_with_its_session() {
    let mut store = Faulty::new(&MemoryStore::new(), |_| None);
    store.connecting = Some(Duration::from_secs(3_600));
    let lease = Duration::from_millis(100);
    let builder = Dispatcher::<Faulty>::builder(store)
        .on_event(|_: Order, _| async { Ok(()) })
        .configure(|config| config.poll.1 = Duration::from_millis(10))
        .lease(lease);
    let dispatcher = builder.spawn(CancellationToken::new()).unwrap();
    until("a lease lost twice", || dispatcher.stats().lease_lost > 1).await;
    assert!(heartbeats() > 0);
    dispatcher.shutdown().await;
    until("no heartbeat is left", || heartbeats() == 0).await;
}
