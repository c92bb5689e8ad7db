//! What a recorder writes down, and what it waits for.

use crate::orders::{Order, accept, builder, charge, placed};
use outbox_core::{
    CancellationToken, Delivery, HandlerError, MemoryStore, RetryPolicy, Wish,
    testing::{Ending, Faulty, Recorder},
};
use std::time::Duration;

fn endings(recorder: &Recorder) -> Vec<Ending> {
    let seen = recorder.seen();
    seen.iter().map(|seen| seen.ending).collect()
}

#[tokio::test]
async fn each_ending_is_told() {
    let store = MemoryStore::new();
    store.emit(placed(7, 900)).unwrap();
    let recorder = Recorder::new();
    let fails = || HandlerError::retry_after(Duration::from_secs(1), "later");
    let handler = Faulty::new(accept).fails_with(1, fails).panics(1).hangs(1);
    let dispatcher = builder(&store)
        .on_event(recorder.wrap(handler))
        .timeout(Duration::from_millis(20))
        .build()
        .unwrap();
    dispatcher.fast_forward().await.unwrap();
    let later = Wish::RetryAfter(Duration::from_secs(1));
    assert_eq!(
        endings(&recorder),
        [
            Ending::Failed(later),
            Ending::Panicked,
            Ending::Dropped,
            Ending::Done
        ]
    );
    let done = recorder.done("order.placed");
    assert_eq!((done.len(), done[0].attempt()), (1, 4));
    recorder.check_order().unwrap();
}

/// In real time, and with a dispatcher that runs.
#[tokio::test]
async fn what_comes_is_waited_for() {
    let store = MemoryStore::new();
    let recorder = Recorder::new();
    let dispatcher = builder(&store).on_event::<Order>(recorder.handler());
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    let waiting = recorder.clone();
    let waiting = tokio::spawn(async move { waiting.wait_for(Order::CHARGE, 2).await });
    let ids = [charge(7, 1), placed(7, 1), charge(8, 1), placed(9, 1)];
    let ids = store.emit_all(ids).unwrap();
    let mut charges = waiting.await.unwrap().unwrap();
    charges.sort_by_key(Delivery::id);
    assert_eq!(
        [charges[0].id(), charges[1].id()],
        [ids[0].id(), ids[2].id()]
    );
    let last = recorder.wait_for(ids[3], 1).await.unwrap();
    assert_eq!(last[0].topic(), "order.placed");
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn what_does_not_come_is_told_with_what_did() {
    let store = MemoryStore::new();
    let recorder = Recorder::new().patience(Duration::from_secs(1));
    let waited = recorder.wait_for(Order::CHARGE, 1).await;
    assert_eq!(
        waited.unwrap_err().to_string(),
        "waited 1s for 1 × topic order.charge; nothing was delivered"
    );
    store.emit(placed(7, 900)).unwrap();
    let handler = Faulty::new(recorder.handler()).slow(Duration::from_millis(10));
    let dispatcher = builder(&store).on_event::<Order>(handler).build().unwrap();
    dispatcher.drain().await.unwrap();
    let waited = recorder.wait_until("a miracle", |_| false).await;
    assert_eq!(
        waited.unwrap_err().to_string(),
        "waited 1s for a miracle; delivered were:\n  \
         order.placed of order 7, position 1, attempt 1: done"
    );
}

#[tokio::test]
async fn a_handler_may_be_awaited_while_it_runs() {
    let store = MemoryStore::new();
    store.emit(placed(7, 900)).unwrap();
    let recorder = Recorder::new();
    let handler = recorder.wrap(Faulty::new(accept).hangs(1));
    let first = builder(&store)
        .on_event::<Order>(handler)
        .spawn(CancellationToken::new())
        .unwrap();
    let runs = recorder.wait_until("a start", |seen| !seen.is_empty());
    runs.await.unwrap();
    assert_eq!(endings(&recorder), [Ending::Running]);
    first.abort().await;
    assert_eq!(endings(&recorder), [Ending::Dropped]);
}

#[tokio::test]
async fn what_was_done_and_comes_again_is_a_duplicate() {
    let store = MemoryStore::new();
    store.emit_all([placed(7, 1), placed(8, 1)]).unwrap();
    let recorder = Recorder::new();
    let handler = Faulty::new(recorder.handler()).forgets(2).fails(1);
    let dispatcher = builder(&store)
        .on_event::<Order>(handler)
        .retry(RetryPolicy::quick())
        .build()
        .unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!((drained.summary.delivered, drained.summary.retried), (2, 6));
    // The third delivery failed before it came to the handler.
    assert_eq!((recorder.seen().len(), recorder.duplicates().len()), (6, 4));
    recorder.check_order().unwrap();
}
