//! How long a stop takes, whatever the dispatcher does or waits for.

use crate::{faulty::Faulty, support::*};
use outbox_core::{
    CancellationToken, Delivery, Dispatcher, DispatcherBuilder, DispatcherHandle, Draft,
    HandlerError, MemoryStore, Operator, RetryPolicy,
    store::{Member, MemberId, Position, Store, StoreErrorKind},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::Instant;

const GRACE: Duration = Duration::from_secs(2);

/// What there is for the last writes, and for the member's row.
const SLACK: Duration = Duration::from_secs(1);

/// One that died while it owned the events, some of which may have crashed it.
async fn dead_owner(store: &MemoryStore, marks: &[(Position, u32)]) -> MemberId {
    let member = Member::new("", "");
    let lease = Duration::from_secs(1);
    store.join(&member, lease).await.unwrap();
    let shards = store.shards().await.unwrap();
    let owned = store.take(member.id, &shards).await.unwrap();
    let marked = store.mark_crashes(member.id, &owned[0], marks).await;
    assert!(marked.unwrap());
    member.id
}

/// Stops, and returns how long it took.
async fn stopped(dispatcher: &DispatcherHandle, hard: bool) -> Duration {
    let start = Instant::now();
    if hard {
        dispatcher.abort().await;
    } else {
        dispatcher.shutdown().await;
    }
    start.elapsed()
}

/// How long a stop takes while a call of the database hangs: where a dead dispatcher is replaced, an
/// event has failed once, and another one falls due.
async fn stop_while_hanging(verb: &'static str, hard: bool) -> Duration {
    let store = MemoryStore::new();
    store.emit(step(1, 1)).unwrap();
    let later = Draft::new(&step(2, 1)).after(Duration::from_secs(20));
    store.emit(later).unwrap();
    let dead = dead_owner(&store, &[]).await;
    let (hanging, reached) = (Arc::new(AtomicBool::new(true)), Arc::default());
    let mut faulty = Faulty::new(&store, |_| None);
    let (hangs, is_reached) = (Arc::clone(&hanging), Arc::<AtomicBool>::clone(&reached));
    faulty.hangs = Some(Arc::new(move |called| {
        is_reached.fetch_or(called == verb, SeqCst);
        called == verb && hangs.load(SeqCst)
    }));
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(
            async |_: Order, delivery: Delivery| match delivery.attempt() {
                1 => Err(HandlerError::retry("once")),
                _ => Ok(()),
            },
        )
        .grace(GRACE)
        .spawn(CancellationToken::new())
        .unwrap();
    if verb != "leave" {
        until(verb, || reached.load(SeqCst)).await;
    }
    pass(1).await;
    let took = stopped(&dispatcher, hard).await;
    assert!(reached.load(SeqCst), "{verb}");
    // It was not dropped: it goes on behind the dispatcher's back.
    hanging.store(false, SeqCst);
    pass(1).await;
    let members = store.members().await.unwrap();
    assert!(members.iter().all(|member| member.id == dead), "{verb}");
    took
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_no_database_that_hangs() {
    let verbs = [
        "check",
        "join",
        "members",
        "evict",
        "shards",
        "take",
        "paused",
        "blocked",
        "mark_crashes",
        "fetch",
        "read",
        "settle",
        "move_due",
        "renew",
        "prune",
        "leave",
    ];
    for verb in verbs {
        let took = stop_while_hanging(verb, true).await;
        assert!(took < SLACK, "{verb}: {took:?}");
        let took = stop_while_hanging(verb, false).await;
        assert!(took < GRACE + SLACK, "{verb}: {took:?}");
    }
}

/// A dispatcher over 20 events, each of an aggregate of its own.
async fn busy_with<F, Fut>(store: &MemoryStore, handle: F) -> DispatcherBuilder<MemoryStore>
where
    F: Fn(u32, u32, Delivery) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send,
{
    let events = (0..20).map(|order| step(order, 1));
    store.emit_all(events).unwrap();
    dispatcher(store, &Log::default(), handle).grace(GRACE)
}

/// Nothing is in work, so that there is nothing to wait for.
#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_no_pause() {
    for hard in [false, true] {
        let store = MemoryStore::new();
        let hour = Duration::from_secs(3_600);
        let waits = busy_with(&store, async |order, _, _| match order {
            0 => Err(HandlerError::retry("an hour's pause")),
            _ => Ok(()),
        });
        let retry = RetryPolicy::new(hour, hour, 3).unwrap();
        let waits = spawn(waits.await.retry(retry));
        until("one has failed", || waits.stats().retried == 1).await;
        assert!(stopped(&waits, hard).await < SLACK, "an event waits");

        let store = MemoryStore::new();
        let down = busy_with(&store, async |_, _, _| Err(HandlerError::outage("down")));
        let down = spawn(down.await);
        until("the topic is down", || down.stats().down == 1).await;
        assert!(stopped(&down, hard).await < SLACK, "a topic is down");

        let store = MemoryStore::new();
        let operator = Operator::<MemoryStore>::new(store.clone(), "alice");
        assert!(operator.pause("order.step", "a test").await.unwrap());
        let paused = spawn(busy_with(&store, ok).await);
        pass(5).await;
        assert_eq!(store.pending().len(), 20);
        assert!(stopped(&paused, hard).await < SLACK, "a topic is paused");

        for verb in ["check", "join", "fetch"] {
            let fails = move |called| (called == verb).then_some(StoreErrorKind::Unavailable);
            let faulty = Faulty::new(&MemoryStore::new(), fails);
            let backs_off = Dispatcher::<Faulty>::builder(faulty)
                .on_event(|_: Order, _: Delivery| async { Ok(()) })
                .grace(GRACE)
                .spawn(CancellationToken::new())
                .unwrap();
            pass(60).await;
            assert!(stopped(&backs_off, hard).await < SLACK, "{verb} fails");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_grace_period_when_an_event_runs_alone() {
    for hard in [false, true] {
        let store = MemoryStore::new();
        let alone = busy_with(&store, async |order, _, _| match order {
            0 => std::future::pending().await,
            _ => Ok(()),
        })
        .await;
        let first = store.pending()[0].event.position;
        dead_owner(&store, &[(first, 1)]).await;
        let alone = spawn(alone);
        until("it is left", || alone.stats().in_work == 1).await;
        store.emit(step(20, 1)).unwrap();
        pass(1).await;
        let left = store.pending();
        assert!(left.iter().any(|event| event.event.position == first));
        assert!(left.len() > 1, "others wait");
        let limit = if hard { SLACK } else { GRACE + SLACK };
        let took = stopped(&alone, hard).await;
        assert!(took < limit, "{took:?}");
        assert_eq!(store.pending().len(), left.len());
    }
}
