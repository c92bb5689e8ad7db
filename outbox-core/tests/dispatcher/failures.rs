use crate::support::*;
use outbox_core::{
    HandlerError, MemoryStore, OnDead, Operator, RetryPolicy, operator::Answer, store::DeadReason,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

#[tokio::test(start_paused = true)]
async fn an_event_whose_attempts_are_used_up_is_a_dead_letter_with_its_last_error() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all([step(1, 1), step(1, 2)]).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, _, delivery| async move {
        Err(HandlerError::retry(format!(
            "attempt {}",
            delivery.attempt()
        )))
    }));
    until("dead", || store.dead().len() == 1).await;
    let dead = &store.dead()[0];
    assert_eq!(dead.reason, DeadReason::Exhausted);
    assert_eq!(dead.error, "attempt 4");
    assert_eq!(dead.event.attempts, 4);
    assert!(dead.blocks);
    pass(3_600).await;
    assert_eq!(
        store.pending().len(),
        1,
        "the successor waits for an operator"
    );
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_that_continues_lets_its_successors_go() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((1..=5).map(|number| step(1, number)))
        .unwrap();
    let handle = dispatcher(&store, &log, |_, step, _| async move {
        if step == 2 {
            Err(HandlerError::dead("no"))
        } else {
            Ok(())
        }
    })
    .configure(|config| config.topic.on_dead = Some(OnDead::Continue));
    let dispatcher = spawn(handle);
    until("the rest", || log.len() == 4).await;
    assert_eq!(log.of(1), [1, 3, 4, 5]);
    assert_eq!(store.dead()[0].reason, DeadReason::Rejected);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_requeued_dead_letter_returns_to_its_place() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let repaired = Arc::new(AtomicBool::new(false));
    store
        .emit_all((1..=5).map(|number| step(1, number)))
        .unwrap();
    let fixed = Arc::clone(&repaired);
    let dispatcher = spawn(dispatcher(&store, &log, move |_, step, _| {
        let broken = step == 2 && !fixed.load(SeqCst);
        async move {
            if broken {
                Err(HandlerError::dead("no"))
            } else {
                Ok(())
            }
        }
    }));
    until("dead", || store.dead().len() == 1).await;
    store.emit(step(1, 6)).unwrap();
    pass(5).await;
    assert_eq!(log.of(1), [1]);
    repaired.store(true, SeqCst);
    let operator = Operator::<MemoryStore>::new(store.clone(), "alice");
    let position = store.dead()[0].event.position;
    let retried = operator.retry(position, "repaired").await.unwrap();
    assert_eq!(retried, Answer::Done);
    until("all delivered", || log.len() == 6).await;
    assert_eq!(log.of(1), [1, 2, 3, 4, 5, 6]);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn what_blocks_is_known_to_the_next_dispatcher() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((1..=3).map(|number| step(1, number)))
        .unwrap();
    let refuse = |_, step, _| async move {
        if step == 1 {
            Err(HandlerError::dead("no"))
        } else {
            Ok(())
        }
    };
    let first = spawn(dispatcher(&store, &log, refuse));
    until("dead", || store.dead().len() == 1).await;
    first.shutdown().await;
    let second = spawn(dispatcher(&store, &log, refuse));
    pass(60).await;
    assert_eq!(log.len(), 0);
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn panics_and_hangs_are_failed_attempts() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((1..=40).map(|order| step(order, order % 4)))
        .unwrap();
    let handle = dispatcher(&store, &log, |_, step, delivery| {
        assert!(step != 0, "before the first await");
        async move {
            if delivery.attempt() > 1 {
                return Ok(());
            }
            match step {
                1 => {
                    tokio::task::yield_now().await;
                    std::panic::panic_any(42);
                }
                2 => std::future::pending().await,
                _ => Ok(()),
            }
        }
    })
    .timeout(Duration::from_secs(5))
    .concurrency(4);
    let dispatcher = spawn(handle);
    until("settled", || store.pending().is_empty()).await;
    assert_eq!(log.len(), 30);
    let errors: Vec<_> = store.dead().iter().map(|dead| dead.error.clone()).collect();
    assert_eq!(
        errors,
        vec!["the handler panicked: before the first await"; 10]
    );
    assert_eq!(dispatcher.stats().in_work, 0);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_handlers_own_delay_is_kept() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(1, 1)).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, _, delivery| async move {
        match delivery.attempt() {
            1 => Err(HandlerError::retry_after(Duration::from_secs(3_600), "429")),
            _ => Ok(()),
        }
    }));
    pass(3_599).await;
    assert_eq!(log.len(), 0);
    pass(1_000).await;
    assert_eq!(log.len(), 1);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn stored_errors_pass_the_redaction_hook() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all([step(1, 1), step(2, 2)]).unwrap();
    let handle = dispatcher(&store, &log, |_, step, _| async move {
        Err(HandlerError::dead(format!(
            "{}secret{step}",
            "x".repeat(10_000)
        )))
    })
    .redact(|text| {
        assert!(!text.contains("secret2"), "a hook that fails");
        text.trim_start_matches('x').replace("secret", "***")
    });
    let dispatcher = spawn(handle);
    until("dead", || store.dead().len() == 2).await;
    let errors: Vec<_> = store.dead().iter().map(|dead| dead.error.clone()).collect();
    assert_eq!(errors[0], "***1");
    assert!(errors[1].starts_with("the redact hook panicked"));
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn each_topic_keeps_to_its_concurrency() {
    let store = MemoryStore::new();
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    store
        .emit_all((1..=50).map(|order| Order::Charge(Charge { order, cents: 1 })))
        .unwrap();
    store
        .emit_all((1..=50).map(|order| mail(order, 1)))
        .unwrap();
    let log = Log::default();
    let (in_charge, most_) = (Arc::clone(&running), Arc::clone(&most));
    let handle = dispatcher(&store, &log, ok).topic(Order::CHARGE, |topic| {
        topic
            .concurrency(3)
            .retry(RetryPolicy::never())
            .handler(move |_: Charge, _| {
                let (running, most) = (Arc::clone(&in_charge), Arc::clone(&most_));
                async move {
                    most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    running.fetch_sub(1, SeqCst);
                    Ok(())
                }
            })
    });
    let dispatcher = spawn(handle);
    until("the mails", || log.len() == 50).await;
    assert!(
        store.pending().len() > 40,
        "a slow topic takes nothing from the others"
    );
    until("all", || store.pending().is_empty()).await;
    assert_eq!(most.load(SeqCst), 3);
    dispatcher.shutdown().await;
}

/// What panics when a timeout drops it.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "while it was dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_handler_is_dropped_costs_nothing_but_the_attempt() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((1..=10).map(|order| step(order, 1)))
        .unwrap();
    let handle = dispatcher(&store, &log, |_, _, delivery| async move {
        if delivery.attempt() == 1 {
            let _explosive = Explosive;
            std::future::pending::<()>().await;
        }
        Ok(())
    })
    .timeout(Duration::from_secs(5))
    .concurrency(2);
    let dispatcher = spawn(handle);
    until("delivered", || store.delivered().len() == 10).await;
    assert_eq!(dispatcher.stats().in_work, 0);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_that_panics_when_it_is_dropped_stays_with_its_event() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all([step(1, 1), step(2, 1)]).unwrap();
    let handle = dispatcher(&store, &log, |order, _, _| async move {
        if order == 1 {
            std::panic::panic_any(Explosive);
        }
        Ok(())
    });
    let dispatcher = spawn(handle.concurrency(1));
    until("dead", || store.dead().len() == 1).await;
    assert_eq!(log.all(), [(2, 1)]);
    assert_eq!(dispatcher.stats().lease_lost, 0);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_receiver_may_ask_for_any_delay() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all([step(1, 1), step(2, 1)]).unwrap();
    let handle = dispatcher(&store, &log, |order, _, _| async move {
        if order == 1 {
            return Err(HandlerError::retry_after(Duration::MAX, "whenever"));
        }
        Ok(())
    });
    let dispatcher = spawn(handle.concurrency(1));
    until("written", || store.pending()[0].event.attempts == 1).await;
    until("the other", || log.len() == 1).await;
    pass(3_600).await;
    assert_eq!(store.pending()[0].event.attempts, 1);
    dispatcher.shutdown().await;
}
