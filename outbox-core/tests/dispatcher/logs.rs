//! What a dispatcher says in the log, and how often.

use crate::{faulty::Faulty, support::*};
use outbox_core::{
    CancellationToken, Delivery, Dispatcher, HandlerError, MemoryStore,
    store::{Store, StoreErrorKind},
};
use std::{
    io,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};
use tracing::{Dispatch, Level, subscriber::DefaultGuard};

/// Where there is one subscriber in the process, a place that logs asks for that of the thread which
/// comes by first; that of another test has none, and the place stays silent for all. So there are two.
static ANOTHER: LazyLock<Dispatch> =
    LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));

/// The lines that were logged, each with its level first.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn capture() -> (Self, DefaultGuard) {
        Self::capture_down_to(Level::INFO)
    }

    fn capture_down_to(level: Level) -> (Self, DefaultGuard) {
        LazyLock::force(&ANOTHER);
        let lines = Self::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .without_time()
            .with_target(false)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (lines, tracing::subscriber::set_default(subscriber))
    }

    fn count(&self, level: Level, text: &str) -> usize {
        let bytes = self.0.lock().unwrap();
        let lines = str::from_utf8(&bytes).unwrap().lines();
        lines
            .filter(|line| line.trim_start().starts_with(level.as_str()) && line.contains(text))
            .count()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn failed_deliveries_are_warnings_and_dead_letters_are_errors() {
    let (lines, _capturing) = Lines::capture();
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(1, 1)).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, _, _| async {
        Err(HandlerError::retry("no such account"))
    }));
    until("dead", || store.dead().len() == 1).await;
    dispatcher.shutdown().await;
    assert_eq!(lines.count(Level::WARN, "no such account"), 4);
    assert_eq!(lines.count(Level::ERROR, "no such account"), 1);
    assert_eq!(lines.count(Level::ERROR, "dead letter"), 1);
    assert_eq!(lines.count(Level::ERROR, "order.step"), 1);
}

/// The span of a delivery is at INFO.
#[tokio::test(start_paused = true)]
async fn a_warning_names_its_event_where_spans_are_left_out() {
    let (lines, _capturing) = Lines::capture_down_to(Level::WARN);
    let (store, log) = (MemoryStore::new(), Log::default());
    let id = store.emit(step(1, 1)).unwrap().id();
    let dispatcher = spawn(dispatcher(&store, &log, |_, _, _| async {
        Err(HandlerError::retry("no such account"))
    }));
    until("dead", || store.dead().len() == 1).await;
    dispatcher.shutdown().await;
    for attempt in 1..=4 {
        let what = format!("topic=\"order.step\" event={id} attempt={attempt} ");
        assert_eq!(lines.count(Level::WARN, &what), 1, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_owns_nothing_says_once_that_it_stands_by() {
    let (lines, _capturing) = Lines::capture();
    let (store, log) = (MemoryStore::new(), Log::default());
    let first = spawn(dispatcher(&store, &log, ok));
    pass(1).await;
    assert_eq!(lines.count(Level::INFO, "standing by"), 0);
    let second = spawn(dispatcher(&store, &log, ok));
    pass(600).await;
    assert_eq!(lines.count(Level::INFO, "standing by"), 1);
    first.shutdown().await;
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_is_told() {
    let (lines, _capturing) = Lines::capture();
    let (store, log) = (MemoryStore::new(), Log::default());
    let dispatcher = spawn(dispatcher(&store, &log, ok));
    pass(1).await;
    for member in store.members().await.unwrap() {
        assert!(store.evict(&member).await.unwrap());
    }
    pass(60).await;
    assert_eq!(dispatcher.stats().lease_lost, 1);
    assert_eq!(lines.count(Level::WARN, "lease lost"), 1);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_stuck_is_told_and_so_is_its_lost_lease() {
    let (lines, _capturing) = Lines::capture();
    let store = MemoryStore::new();
    let faulty = Faulty::new(&store, |_| None);
    let stuck = Arc::clone(&faulty.stuck);
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(|_: Order, _: Delivery| async { Ok(()) })
        .spawn(CancellationToken::new())
        .unwrap();
    pass(1).await;
    stuck.store(true, SeqCst);
    until("lost", || dispatcher.stats().lease_lost == 1).await;
    stuck.store(false, SeqCst);
    store.emit(step(1, 1)).unwrap();
    until("it goes on", || store.delivered().len() == 1).await;
    pass(60).await;
    assert_eq!(lines.count(Level::WARN, "loop is stuck"), 1);
    assert_eq!(lines.count(Level::WARN, "lease lost"), 1);
    assert_eq!(dispatcher.stats().lease_lost, 1);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_the_database_is_told_once_and_its_end_too() {
    for kind in [
        StoreErrorKind::Unavailable,
        StoreErrorKind::Contention,
        StoreErrorKind::Schema,
    ] {
        for verb in ["fetch", "settle", "renew"] {
            let (lines, _capturing) = Lines::capture();
            let (store, down) = (MemoryStore::new(), Arc::new(AtomicBool::new(false)));
            let is_down = Arc::clone(&down);
            let faulty = Faulty::new(&store, move |called| {
                (called == verb && is_down.load(SeqCst)).then_some(kind)
            });
            let dispatcher = Dispatcher::<Faulty>::builder(faulty)
                .on_event(|_: Order, _: Delivery| async { Ok(()) })
                .spawn(CancellationToken::new())
                .unwrap();
            pass(1).await;
            down.store(true, SeqCst);
            store.emit(step(1, 1)).unwrap();
            pass(120).await;
            assert_eq!(lines.count(Level::WARN, "cannot go on"), 1, "{verb}");
            down.store(false, SeqCst);
            until("delivered", || store.delivered().len() == 1).await;
            pass(10).await;
            assert_eq!(lines.count(Level::INFO, "goes on"), 1, "{verb}");
            assert_eq!(store.delivered()[0].attempts, 0);
            dispatcher.shutdown().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_a_topic_is_told_once_and_its_end_too() {
    let (lines, _capturing) = Lines::capture();
    let (store, log) = (MemoryStore::new(), Log::default());
    let up = Arc::new(AtomicBool::new(false));
    let is_up = Arc::clone(&up);
    store
        .emit_all((0..100).map(|order| step(order, 1)))
        .unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, move |_, _, _| {
        let up = is_up.load(SeqCst);
        async move {
            if up {
                Ok(())
            } else {
                Err(HandlerError::outage("refused"))
            }
        }
    }));
    pass(3_600).await;
    assert_eq!(lines.count(Level::WARN, "the topic pauses"), 1);
    up.store(true, SeqCst);
    until("delivered", || log.len() == 100).await;
    assert_eq!(lines.count(Level::INFO, "the outage is over"), 1);
    dispatcher.shutdown().await;
}
