use crate::support::*;
use outbox_core::{HandlerError, MemoryStore};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

#[tokio::test(start_paused = true)]
async fn an_outage_burns_no_attempt_and_is_probed_with_single_events() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let (up, calls) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    store
        .emit_all((0..1_000).map(|number| step(number % 20, number)))
        .unwrap();
    let (up_, calls_) = (Arc::clone(&up), Arc::clone(&calls));
    let dispatcher = spawn(dispatcher(&store, &log, move |_, _, delivery| {
        calls_.fetch_add(1, SeqCst);
        let up = up_.load(SeqCst);
        async move {
            assert_eq!(delivery.attempt(), 1);
            if up {
                Ok(())
            } else {
                Err(HandlerError::outage("connection refused"))
            }
        }
    }));
    pass(5 * 3_600).await;
    let probes = calls.load(SeqCst);
    assert!(
        (240..=310).contains(&probes),
        "one in 60 to 75 seconds: {probes}"
    );
    assert_eq!(store.pending().len(), 1_000);
    assert_eq!(dispatcher.stats().down, 1);
    assert!(
        store
            .pending()
            .iter()
            .all(|event| event.event.attempts == 0)
    );
    assert_eq!(store.dead(), []);
    up.store(true, SeqCst);
    pass(120).await;
    assert_eq!(store.pending(), []);
    assert_eq!(dispatcher.stats().down, 0);
    for order in 0..20 {
        assert!(log.of(order).is_sorted());
    }
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_one_topic_leaves_the_others_alone() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((0..100).flat_map(|number| [step(number, 1), mail(number, 2)]))
        .unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, step, _| async move {
        if step == 1 {
            Err(HandlerError::outage("down"))
        } else {
            Ok(())
        }
    }));
    until("the mails", || log.len() == 100).await;
    assert_eq!(store.pending().len(), 100);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_long_backlog_of_a_topic_that_is_down_leaves_the_others_alone() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((0..8_000).map(|order| step(order, 1)))
        .unwrap();
    store.emit_all((0..50).map(|order| mail(order, 2))).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, step, _| async move {
        if step == 1 {
            Err(HandlerError::outage("down"))
        } else {
            Ok(())
        }
    }));
    pass(120).await;
    assert_eq!(log.len(), 50);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_that_takes_every_failure_for_an_outage_does_not_stop_its_topic() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(0, 1)).unwrap();
    let handle = dispatcher(&store, &log, |order, _, _| async move {
        if order == 0 {
            Err(HandlerError::outage("it is me"))
        } else {
            Ok(())
        }
    });
    let dispatcher = spawn(handle);
    for order in 1..3_600 {
        store.emit(step(order, 1)).unwrap();
        pass(1).await;
    }
    assert_eq!(store.dead().len(), 1);
    assert!(log.len() > 3_500);
    dispatcher.shutdown().await;
}

/// A receiver that is down for `hours`: every delivery fails with what `error` makes.
async fn down_for(hours: u64, error: impl Fn() -> Option<HandlerError> + Send + Sync + 'static) {
    let (store, log) = (MemoryStore::new(), Log::default());
    let up = Arc::new(AtomicBool::new(false));
    store
        .emit_all((0..1_000).map(|number| step(number % 20, number)))
        .unwrap();
    let (up_, error) = (Arc::clone(&up), Arc::new(error));
    let dispatcher = spawn(dispatcher(&store, &log, move |_, _, _| {
        let (up, error) = (up_.load(SeqCst), Arc::clone(&error));
        async move {
            match (up, error()) {
                (true, _) => Ok(()),
                (false, Some(error)) => Err(error),
                (false, None) => std::future::pending().await,
            }
        }
    }));
    pass(hours * 3_600).await;
    let attempts = |event: &outbox_core::PendingEvent| event.event.attempts;
    assert!(store.pending().iter().all(|event| attempts(event) <= 2));
    assert_eq!(store.dead(), []);
    up.store(true, SeqCst);
    pass(180).await;
    assert_eq!(store.pending(), []);
    for order in 0..20 {
        assert!(log.of(order).is_sorted());
    }
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_outage_that_nobody_reports_is_seen() {
    down_for(5, || Some(HandlerError::retry("connection refused"))).await;
}

#[tokio::test(start_paused = true)]
async fn an_outage_in_which_everything_hangs_is_seen() {
    down_for(5, || None).await;
}

#[tokio::test(start_paused = true)]
async fn a_topic_whose_first_attempts_all_fail_goes_on_after_minutes() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((0..2_000).map(|order| step(order, 1)))
        .unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, _, delivery| async move {
        match delivery.attempt() {
            1 => Err(HandlerError::retry("not at the first attempt")),
            _ => Ok(()),
        }
    }));
    pass(4 * 60).await;
    assert_eq!(log.len(), 0, "it may be an outage");
    pass(6 * 60).await;
    assert_eq!(store.pending(), []);
    assert_eq!(log.len(), 2_000);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn events_that_fail_for_ever_become_dead_letters_although_all_of_them_do() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all((0..20).map(|order| step(order, 1))).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, _, _| async {
        Err(HandlerError::retry("it is a bug"))
    }));
    pass(20 * 3_600).await;
    assert_eq!(store.dead(), [], "it may be an outage");
    pass(20 * 3_600).await;
    assert_eq!(store.dead().len(), 20);
    dispatcher.shutdown().await;
}
