//! A database that fails at the worst moment. The time is virtual.

use outbox_core::{
    CancellationToken, Delivery, Dispatcher, DispatcherBuilder, DispatcherHandle, HandlerError,
    MemoryStore, Operator, RetryPolicy,
    operator::Answer,
    store::{
        Position,
        StoreErrorKind::{Contention, Unavailable},
    },
};
use outbox_tests::{
    conformance::Thing,
    watched::{Moment, Verb, Watched},
};
use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

type Seen = Arc<Mutex<Vec<String>>>;

fn store() -> (MemoryStore, Watched<MemoryStore>) {
    let store = MemoryStore::new();
    (store.clone(), Watched::new(store))
}

/// Delivers with `handle`; `seen` are the texts whose handler succeeded.
fn dispatcher<F, Fut>(
    store: &Watched<MemoryStore>,
    seen: &Seen,
    handle: F,
) -> DispatcherBuilder<Watched<MemoryStore>>
where
    F: Fn(String, Delivery) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send,
{
    let seen = Arc::clone(seen);
    let handle = Arc::new(handle);
    Dispatcher::builder(store.clone()).on_event(move |thing: Thing, delivery: Delivery| {
        let (seen, handle) = (Arc::clone(&seen), Arc::clone(&handle));
        async move {
            handle(thing.text.clone(), delivery).await?;
            seen.lock().unwrap().push(thing.text);
            Ok(())
        }
    })
}

async fn ok(_: String, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn spawn(builder: DispatcherBuilder<Watched<MemoryStore>>) -> DispatcherHandle {
    builder.spawn(CancellationToken::new()).unwrap()
}

/// True for the first call only.
fn once() -> impl Fn() -> bool + Send + Sync {
    let first = AtomicBool::new(true);
    move || first.swap(false, SeqCst)
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    unreachable!("never: {what}");
}

async fn skip(memory: &MemoryStore, position: Position) {
    let operator = Operator::<MemoryStore>::new(memory.clone(), "alice");
    let skipped = operator.skip(position, "a test").await.unwrap();
    assert_eq!(skipped, Answer::Done);
}

#[tokio::test(start_paused = true)]
async fn nothing_passes_a_dead_letter_that_could_not_be_read_anew() {
    let ((memory, store), seen) = (store(), Seen::default());
    for text in ["a1", "a2"] {
        memory.emit(Thing::of("a", text)).unwrap();
    }
    memory.emit(Thing::of("b", "b1")).unwrap();
    let dispatcher = spawn(dispatcher(&store, &seen, |text, _| async move {
        if text.ends_with('1') {
            Err(HandlerError::dead("no"))
        } else {
            Ok(())
        }
    }));
    until("dead", || memory.dead().len() == 2).await;
    let first = once();
    store.fail(move |call| (call.verb == Verb::Blocked && first()).then_some(Unavailable));
    // The operator's change makes the owner read everything anew.
    skip(&memory, memory.dead()[1].event.position).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(*seen.lock().unwrap(), [] as [&str; 0]);
    skip(&memory, memory.dead()[0].event.position).await;
    until("goes on", || memory.delivered().len() == 1).await;
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_that_changes_at_a_take_over_stays_unseen() {
    let ((memory, store), seen) = (store(), Seen::default());
    for text in ["bad", "good"] {
        memory.emit(Thing::of("a", text)).unwrap();
    }
    let refuse = |text: String, _: Delivery| async move {
        if text == "bad" {
            return Err(HandlerError::dead("no"));
        }
        Ok(())
    };
    let first = spawn(dispatcher(&store, &seen, refuse));
    until("dead", || memory.dead().len() == 1).await;
    first.shutdown().await;
    // The next owner has taken the shard and reads nothing yet when an operator decides.
    let (stopped, tried) = (
        Arc::new(AtomicBool::new(true)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (stops, tries) = (Arc::clone(&stopped), Arc::clone(&tried));
    store.fail(move |call| {
        let stops = call.verb == Verb::Fetch && stops.load(SeqCst);
        tries.fetch_add(usize::from(stops), SeqCst);
        stops.then_some(Unavailable)
    });
    let next = spawn(dispatcher(&store, &seen, refuse));
    until("a fetch", || tried.load(SeqCst) > 0).await;
    skip(&memory, memory.dead()[0].event.position).await;
    stopped.store(false, SeqCst);
    until("goes on", || memory.delivered().len() == 1).await;
    next.shutdown().await;
    assert_eq!(*seen.lock().unwrap(), ["good"]);
}

#[tokio::test(start_paused = true)]
async fn parked_events_that_could_not_be_read_are_read_later() {
    let ((memory, store), seen) = (store(), Seen::default());
    for key in 0..10 {
        memory.emit(Thing::of(&key.to_string(), "x")).unwrap();
    }
    let first = once();
    store.fail(move |call| (call.verb == Verb::Read && first()).then_some(Unavailable));
    let moment = Duration::from_millis(1);
    let handle = dispatcher(&store, &seen, move |_, delivery| async move {
        match delivery.attempt() {
            1 => Err(HandlerError::retry_after(moment, "once")),
            _ => Ok(()),
        }
    })
    .retry(RetryPolicy::new(moment, moment, 3).unwrap())
    .configure(|config| config.batch = 2);
    let dispatcher = spawn(handle);
    until("all delivered", || memory.delivered().len() == 10).await;
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_was_taken_without_an_answer_is_not_left_lying() {
    let ((memory, store), seen) = (store(), Seen::default());
    memory.emit(Thing::said("one")).unwrap();
    let first = once();
    store.fail(move |call| {
        let taken = call.verb == Verb::Take && call.moment == Moment::After;
        (taken && first()).then_some(Unavailable)
    });
    let dispatcher = spawn(dispatcher(&store, &seen, ok));
    until("delivered", || memory.delivered().len() == 1).await;
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_hard_stop_writes_nothing_that_comes_after_what_it_could_not_write() {
    let ((memory, store), seen) = (store(), Seen::default());
    for text in ["1", "2", "3"] {
        memory.emit(Thing::said(text)).unwrap();
    }
    // The first outcome cannot be written; by the time of the others the database is back.
    store.fail(|call| call.settles(1).then_some(Unavailable));
    let handle = |text: String, _: Delivery| async move {
        let pause = Duration::from_millis(if text == "1" { 0 } else { 100 });
        tokio::time::sleep(pause).await;
        Ok(())
    };
    let stopping = spawn(dispatcher(&store, &seen, handle));
    until("handled", || seen.lock().unwrap().len() == 3).await;
    stopping.abort().await;
    assert_eq!(memory.pending().len(), 3, "a suffix is repeated, whole");
    store.mend();
    let next = spawn(dispatcher(&store, &seen, ok));
    until("delivered", || memory.delivered().len() == 3).await;
    assert_eq!(*seen.lock().unwrap(), ["1", "2", "3", "1", "2", "3"]);
    next.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn leaving_is_tried_again() {
    let ((memory, store), seen) = (store(), Seen::default());
    let calls = AtomicUsize::new(0);
    store.fail(move |call| {
        let leaving = call.verb == Verb::Leave && calls.fetch_add(1, SeqCst) < 3;
        leaving.then_some(Contention)
    });
    let first = spawn(dispatcher(&store, &seen, ok));
    tokio::time::sleep(Duration::from_secs(1)).await;
    first.shutdown().await;
    memory.emit(Thing::said("one")).unwrap();
    let next = spawn(dispatcher(&store, &seen, ok));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(memory.delivered().len(), 1, "long before the lease is over");
    next.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_settle_that_panics_ends_its_session_only() {
    let ((memory, store), seen) = (store(), Seen::default());
    memory.emit(Thing::said("one")).unwrap();
    let first = once();
    store.fail(move |call| {
        assert!(call.verb != Verb::Settle || !first(), "in the driver");
        None
    });
    let dispatcher = spawn(dispatcher(&store, &seen, ok));
    until("delivered", || memory.delivered().len() == 1).await;
    assert_eq!(dispatcher.stats().lease_lost, 1);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_outage_at_any_verb_is_survived() {
    let verbs = [
        Verb::Check,
        Verb::InProcess,
        Verb::Join,
        Verb::Renew,
        Verb::Members,
        Verb::Shards,
        Verb::Take,
        Verb::Blocked,
        Verb::Fetch,
        Verb::Read,
        Verb::Settle,
        Verb::MoveDue,
        Verb::Leave,
    ];
    for (verb, moment) in verbs
        .into_iter()
        .flat_map(|verb| [(verb, Moment::Before), (verb, Moment::After)])
    {
        let ((memory, store), seen) = (store(), Seen::default());
        for number in 0..30 {
            let event = Thing::of(&(number % 5).to_string(), &number.to_string());
            memory.emit(event).unwrap();
        }
        let delayed = Thing::said("later").after(Duration::from_secs(3));
        memory.emit(delayed).unwrap();
        // Every other call fails.
        let calls = AtomicUsize::new(0);
        store.fail(move |call| {
            let meant = call.verb == verb && call.moment == moment;
            let call = if meant { calls.fetch_add(1, SeqCst) } else { 1 };
            call.is_multiple_of(2).then_some(match call % 4 {
                0 => Unavailable,
                _ => Contention,
            })
        });
        let running = spawn(dispatcher(&store, &seen, |text, delivery| async move {
            if text.ends_with('3') && delivery.attempt() == 1 {
                return Err(HandlerError::retry("once"));
            }
            Ok(())
        }));
        let what = format!("all delivered though {verb:?} fails {moment:?}");
        until(&what, || memory.delivered().len() == 31).await;
        running.shutdown().await;
        let texts = seen.lock().unwrap().clone();
        for key in 0..5 {
            let numbers = texts.iter().filter_map(|text| text.parse::<usize>().ok());
            let mut numbers: Vec<_> = numbers.filter(|number| number % 5 == key).collect();
            numbers.dedup();
            assert!(numbers.is_sorted(), "{what}: {numbers:?}");
        }
    }
}
