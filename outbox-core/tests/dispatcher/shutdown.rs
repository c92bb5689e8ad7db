use crate::support::*;
use outbox_core::{CancellationToken, HandlerError, MemoryStore};
use std::time::Duration;
use tokio::time::Instant;

async fn slow(_: u32, _: u32, _: outbox_core::Delivery) -> Result<(), HandlerError> {
    tokio::time::sleep(Duration::from_secs(2)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn running_handlers_finish_and_the_rest_is_handed_back() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all((1..=100).map(|order| step(order, 1)))
        .unwrap();
    let first = spawn(
        dispatcher(&store, &log, slow)
            .concurrency(10)
            .grace(Duration::from_secs(5)),
    );
    pass(1).await;
    let start = Instant::now();
    first.shutdown().await;
    assert!(start.elapsed() < Duration::from_secs(3));
    assert_eq!(
        (log.len(), store.delivered().len(), store.pending().len()),
        (10, 10, 90)
    );
    assert!(
        store
            .pending()
            .iter()
            .all(|event| event.event.attempts == 0)
    );

    let start = Instant::now();
    let second = spawn(dispatcher(&store, &log, ok));
    until("the rest", || log.len() == 100).await;
    assert!(
        start.elapsed() < Duration::from_millis(200),
        "the shards were given up"
    );
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_handler_has_not_failed() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(1, 1)).unwrap();
    for _ in 0..10 {
        let handle = dispatcher(&store, &log, |_, _, _| async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            Ok(())
        });
        let dispatcher = spawn(handle.grace(Duration::from_secs(1)));
        pass(2).await;
        dispatcher.shutdown().await;
    }
    assert_eq!(store.pending()[0].event.attempts, 0);
    assert_eq!(store.pending()[0].crashes, 0);
}

#[tokio::test(start_paused = true)]
async fn a_second_stop_drops_handlers_within_a_second() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(1, 1)).unwrap();
    let token = CancellationToken::new();
    let handle = dispatcher(&store, &log, |_, _, _| std::future::pending());
    let dispatcher = handle.spawn(token.clone()).unwrap();
    pass(1).await;
    token.cancel();
    pass(1).await;
    let start = Instant::now();
    dispatcher.hurry();
    dispatcher.wait().await;
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(store.pending().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn running_until_idle_delivers_what_is_due_and_tells_what_comes() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store
        .emit_all([step(1, 1), step(1, 2), step(2, 1)])
        .unwrap();
    store
        .emit(outbox_core::Draft::new(&step(3, 1)).after(Duration::from_secs(60)))
        .unwrap();
    let dispatcher = dispatcher(&store, &log, |order, step, delivery| async move {
        if (order, step, delivery.attempt()) == (1, 1, 1) {
            Err(HandlerError::retry("once"))
        } else {
            Ok(())
        }
    })
    .build()
    .unwrap();
    let minute = Duration::from_secs(60);
    let summary = dispatcher.run_until_idle(minute).await.unwrap();
    assert_eq!(
        (summary.delivered, summary.retried, summary.idle),
        (1, 1, true)
    );
    let due = summary.next_due.unwrap();
    assert!(
        due > Duration::from_millis(900) && due < Duration::from_secs(2),
        "{due:?}"
    );
    tokio::time::sleep(due).await;
    let summary = dispatcher.run_until_idle(minute).await.unwrap();
    assert_eq!(
        (summary.delivered, summary.retried, summary.idle),
        (2, 0, true)
    );
}

#[tokio::test(start_paused = true)]
async fn running_until_idle_ends_at_its_deadline() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(1, 1)).unwrap();
    let dispatcher = dispatcher(&store, &log, |_, _, _| std::future::pending())
        .grace(Duration::from_secs(1))
        .build()
        .unwrap();
    let summary = dispatcher
        .run_until_idle(Duration::from_secs(10))
        .await
        .unwrap();
    assert!(!summary.idle);
    assert_eq!(store.pending()[0].event.attempts, 0);
}

#[tokio::test(start_paused = true)]
async fn a_grace_period_longer_than_the_stall_limit_is_kept() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(1, 1)).unwrap();
    let handle = dispatcher(&store, &log, |_, _, _| async {
        tokio::time::sleep(Duration::from_secs(250)).await;
        Ok(())
    });
    let dispatcher = spawn(
        handle
            .timeout(Duration::from_secs(300))
            .grace(Duration::from_secs(300)),
    );
    pass(1).await;
    dispatcher.shutdown().await;
    assert_eq!(store.delivered().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_or_a_grace_may_be_for_ever() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit(step(1, 1)).unwrap();
    let build = || dispatcher(&store, &log, slow).grace(Duration::MAX);
    let summary = build().build().unwrap().run_until_idle(Duration::MAX).await;
    assert_eq!(summary.unwrap().delivered, 1);
    store.emit(step(1, 2)).unwrap();
    let dispatcher = spawn(build());
    pass(1).await;
    dispatcher.shutdown().await;
    assert_eq!(log.of(1), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_run_tells_what_nobody_handles_and_that_it_only_stood_by() {
    let (store, log) = (MemoryStore::new(), Log::default());
    store.emit_all([step(1, 1), step(2, 1)]).unwrap();
    let charges = || builder(&store).on(Order::CHARGE, |_: Charge, _| async { Ok(()) });
    let minute = Duration::from_secs(60);
    let summary = charges().build().unwrap().run_until_idle(minute).await;
    let summary = summary.unwrap();
    assert_eq!((summary.unhandled, summary.idle), (2, true));
    assert!(!summary.standing_by);

    let owner = spawn(dispatcher(&store, &log, ok));
    until("delivered", || log.len() == 2).await;
    let summary = charges().build().unwrap().run_until_idle(minute).await;
    let summary = summary.unwrap();
    assert_eq!((summary.standing_by, summary.idle), (true, false));
    owner.shutdown().await;
}
