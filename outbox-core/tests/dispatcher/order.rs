use crate::support::*;
use outbox_core::{Draft, HandlerError, MemoryStore};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

#[tokio::test(start_paused = true)]
async fn events_of_an_aggregate_come_in_the_order_they_were_written() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let events = (1..=200).flat_map(|number| (1..=5).map(move |order| step(order, number)));
    store.emit_all(events).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, step, _| async move {
        tokio::time::sleep(Duration::from_millis(u64::from(step % 7))).await;
        Ok(())
    }));
    until("all delivered", || store.delivered().len() == 1_000).await;
    for order in 1..=5 {
        assert_eq!(log.of(order), (1..=200).collect::<Vec<_>>());
    }
    dispatcher.shutdown().await;
    assert_eq!(store.pending(), []);
}

#[tokio::test(start_paused = true)]
async fn a_failed_event_keeps_its_place_and_holds_back_nobody_else() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let failed = Arc::new(Mutex::new(0));
    for number in 1..=10 {
        store.emit_all([step(1, number), step(2, number)]).unwrap();
    }
    let dispatcher = spawn(dispatcher(&store, &log, move |order, step, delivery| {
        let failed = Arc::clone(&failed);
        async move {
            if (order, step) == (1, 3) && *failed.lock().unwrap() < 2 {
                *failed.lock().unwrap() += 1;
                return Err(HandlerError::retry(format!(
                    "attempt {}",
                    delivery.attempt()
                )));
            }
            Ok(())
        }
    }));
    until("the other aggregate", || log.of(2).len() == 10).await;
    assert_eq!(log.of(1), [1, 2]);
    assert_eq!(store.pending()[0].event.attempts, 1);
    until("all delivered", || store.delivered().len() == 20).await;
    assert_eq!(log.of(1), (1..=10).collect::<Vec<_>>());
    assert_eq!(
        store.delivered().iter().map(|event| event.attempts).max(),
        Some(2)
    );
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_hot_aggregate_larger_than_the_window_keeps_its_order_and_starves_nobody() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((0..20_000).map(|number| step(1, number)))
        .unwrap();
    store
        .emit_all((0..100).map(|number| step(2, number)))
        .unwrap();
    let handle =
        dispatcher(&store, &log, ok).configure(|config| (config.window, config.batch) = (300, 100));
    let dispatcher = spawn(handle);
    until("all delivered", || log.len() == 20_100).await;
    assert_eq!(log.of(1), (0..20_000).collect::<Vec<_>>());
    assert_eq!(log.of(2), (0..100).collect::<Vec<_>>());
    dispatcher.shutdown().await;
    assert_eq!(store.pending(), []);
}

#[tokio::test(start_paused = true)]
async fn unordered_events_do_not_wait_for_their_neighbours() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((1..=100).map(|number| mail(1, number)))
        .unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, |_, step, _| async move {
        if step == 1 {
            Err(HandlerError::retry("poison"))
        } else {
            Ok(())
        }
    }));
    until("the other mails", || log.len() == 99).await;
    pass(60).await;
    let dead = store.dead();
    assert_eq!(dead.len(), 1);
    assert!(!dead[0].blocks);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_delayed_event_gets_its_place_when_it_falls_due() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit(Draft::new(&step(1, 1)).after(Duration::from_secs(60)))
        .unwrap();
    store.emit(step(1, 2)).unwrap();
    let dispatcher = spawn(dispatcher(&store, &log, ok));
    pass(59).await;
    assert_eq!(log.of(1), [2]);
    assert_eq!(store.delayed().len(), 1);
    pass(2).await;
    assert_eq!(log.of(1), [2, 1]);
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn random_failures_and_restarts_never_reorder() {
    for seed in 0..8 {
        random_run(seed).await;
    }
}

async fn random_run(seed: u64) {
    let (store, log) = (MemoryStore::new(), Log::default());
    let random = Arc::new(Mutex::new(fastrand::Rng::with_seed(seed)));
    for number in 0..50 {
        store
            .emit_all((1..=10).map(|order| step(order, number)))
            .unwrap();
    }
    let started: Arc<Mutex<HashSet<u32>>> = Arc::default();
    while log.len() < 500 || !store.pending().is_empty() {
        let (random_, started) = (Arc::clone(&random), Arc::clone(&started));
        let handle = dispatcher(&store, &log, move |order, _, _| {
            let (fail, pause) = {
                let mut random = random_.lock().unwrap();
                (random.f32() < 0.05, random.u64(0..20))
            };
            let started = Arc::clone(&started);
            async move {
                assert!(
                    started.lock().unwrap().insert(order),
                    "two at once of one aggregate"
                );
                let _over = Over(started, order);
                tokio::time::sleep(Duration::from_millis(pause)).await;
                if fail {
                    Err(HandlerError::retry("chance"))
                } else {
                    Ok(())
                }
            }
        })
        .retry(outbox_core::RetryPolicy::quick().retries(100))
        .configure(|config| (config.window, config.batch) = (60, 20));
        let dispatcher = spawn(handle);
        let (pause, hard) = {
            let mut random = random.lock().unwrap();
            (random.u64(50..3_000), random.bool())
        };
        tokio::time::sleep(Duration::from_millis(pause)).await;
        if hard {
            dispatcher.abort().await
        } else {
            dispatcher.shutdown().await
        }
    }
    for order in 1..=10 {
        // A hard stop may repeat an event whose outcome was not written; it never skips one.
        let mut steps = log.of(order);
        let mut last = None;
        steps.retain(|step| last.replace(*step) != Some(*step));
        assert_eq!(
            steps,
            (0..50).collect::<Vec<_>>(),
            "seed {seed}, order {order}"
        );
    }
}

struct Over(Arc<Mutex<HashSet<u32>>>, u32);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.lock().unwrap().remove(&self.1);
    }
}
