//! What one topic does not take from the others.

use crate::{faulty::Faulty, support::*};
use outbox_core::{
    CancellationToken, Delivery, Dispatcher, DispatcherBuilder, HandlerError, MemoryStore,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

/// Steps take a second, one at a time; all else is done at once.
fn slow_steps(store: &MemoryStore, log: &Log) -> DispatcherBuilder<MemoryStore> {
    let steps = log.clone();
    dispatcher(store, log, ok).topic(Order::STEP, move |topic| {
        topic
            .concurrency(1)
            .handler(move |event: Order, _: Delivery| {
                let log = steps.clone();
                async move {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    if let Order::Step { order, step } = event {
                        log.push(order, step);
                    }
                    Ok::<(), HandlerError>(())
                }
            })
    })
}

fn mails(log: &Log) -> usize {
    log.all().iter().filter(|(_, step)| *step == 99).count()
}

fn emit_mails(store: &MemoryStore, orders: std::ops::Range<u32>) {
    store.emit_all(orders.map(|order| mail(order, 99))).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_topic_leaves_the_memory_to_others_and_loses_nothing() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((0..8_000).map(|order| step(order, 1)))
        .unwrap();
    emit_mails(&store, 0..50);
    let dispatcher = spawn(slow_steps(&store, &log));
    pass(10).await;
    assert_eq!(mails(&log), 50);
    pass(1_000).await;
    emit_mails(&store, 50..100);
    pass(2).await;
    assert_eq!(mails(&log), 100);
    assert!(log.len() - 100 > 1_000, "it is as fast as it was");
    assert!(dispatcher.stats().waiting <= 2_500);
    pass(7_000).await;
    assert_eq!(log.len(), 8_100);
    dispatcher.shutdown().await;
    assert_eq!(store.pending(), []);
}

#[tokio::test(start_paused = true)]
async fn a_slow_topic_keeps_its_order_when_it_comes_back_to_what_it_left_out() {
    let (store, log) = (MemoryStore::new(), Log::default());
    for number in 0..20 {
        store
            .emit_all((0..20).map(|order| step(order, number)))
            .unwrap();
    }
    emit_mails(&store, 100..110);
    let handle = slow_steps(&store, &log);
    let dispatcher = spawn(handle.configure(|config| (config.window, config.batch) = (60, 20)));
    pass(15).await;
    assert_eq!(mails(&log), 10);
    until("all of them", || log.len() == 410).await;
    for order in 0..20 {
        assert_eq!(log.of(order), (0..20).collect::<Vec<_>>());
    }
    dispatcher.shutdown().await;
    assert_eq!(store.pending(), []);
}

#[tokio::test(start_paused = true)]
async fn topics_that_hang_leave_slots_and_memory_to_another() {
    let (store, log) = (MemoryStore::new(), Log::default());
    for order in 0..4_000 {
        store
            .emit_all([step(order, 1), Order::Charge(Charge { order, cents: 1 })])
            .unwrap();
    }
    let handle = dispatcher(&store, &log, |_, step, _| async move {
        if step != 99 {
            std::future::pending::<()>().await;
        }
        Ok(())
    });
    let dispatcher = spawn(handle.timeout(Duration::from_secs(3_600)));
    pass(30).await;
    emit_mails(&store, 0..200);
    pass(2).await;
    assert_eq!(mails(&log), 200);
    dispatcher.abort().await;
}

#[tokio::test(start_paused = true)]
async fn one_topic_alone_has_nearly_all_slots_and_shares_them_when_another_comes() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let running: Arc<[AtomicUsize; 2]> = Arc::default();
    store
        .emit_all((0..2_000).map(|order| step(order, 1)))
        .unwrap();
    let of = Arc::clone(&running);
    let dispatcher = spawn(dispatcher(&store, &log, move |_, step, _| {
        let of = Arc::clone(&of);
        async move {
            let topic = usize::from(step == 99);
            of[topic].fetch_add(1, SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            of[topic].fetch_sub(1, SeqCst);
            Ok(())
        }
    }));
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(running[0].load(SeqCst), 60);
    emit_mails(&store, 0..2_000);
    pass(3).await;
    let (steps, mails) = (running[0].load(SeqCst), running[1].load(SeqCst));
    assert!(
        (28..=32).contains(&steps) && (28..=32).contains(&mails),
        "{steps}, {mails}"
    );
    dispatcher.abort().await;
}

#[tokio::test(start_paused = true)]
async fn an_aggregate_of_a_hundred_thousand_events_holds_up_nobody() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let blocked = (0..100_000).map(|number| step(1, number));
    store.emit_all(blocked).unwrap();
    store
        .emit_all((0..100).map(|number| step(2, number)))
        .unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |order, _, _| async move {
        if order == 1 {
            Err(HandlerError::dead("never"))
        } else {
            Ok(())
        }
    }));
    until("the other", || log.of(2).len() == 100).await;
    assert!(dispatcher.stats().waiting <= 5_000);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn refused_outcomes_hold_back_their_topic_at_most() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((0..6_000).map(|order| step(order, 1)))
        .unwrap();
    let mut faulty = Faulty::new(&store, |_| None);
    faulty.refused = 6_000;
    let log_ = log.clone();
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(move |event: Order, _: Delivery| {
            if let Order::Mail { order, step } = event {
                log_.push(order, step);
            }
            async { Ok(()) }
        })
        .spawn(CancellationToken::new())
        .unwrap();
    pass(60).await;
    emit_mails(&store, 0..50);
    pass(60).await;
    assert_eq!(store.delivered().len(), 50);
    assert!(dispatcher.stats().waiting <= 5_000);
    dispatcher.abort().await;
}
