//! How many bytes of payloads there are in memory at most. The cases are those of 10 MB and the
//! default budget of 64 MiB, a thousand times smaller.

use crate::{faulty::Faulty, support::*};
use outbox_core::{
    CancellationToken, Delivery, Dispatcher, HandlerError, MemoryStore, OutboxEvent,
    store::{Cursor, FetchRequest, History, Member, Outcomes, Settlement, Store, Verdict},
};
use serde::{Deserialize, Serialize};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

const EVENTS: usize = 200;
const LONG: usize = 10_000;
const BUDGET: usize = 64 * 1024;

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "document", crate = outbox_core)]
struct Document {
    #[outbox(key)]
    number: usize,
    text: String,
}

/// Long events, each of an aggregate of its own.
fn documents(store: &MemoryStore) {
    for number in 0..EVENTS {
        let text = "x".repeat(LONG);
        store.emit(Document { number, text }).unwrap();
    }
}

/// All of them have failed once, and fall due together.
async fn fail_all(store: &MemoryStore) {
    let member = Member::new("", "");
    store.join(&member, Duration::from_secs(60)).await.unwrap();
    let owned = store
        .take(member.id, &store.shards().await.unwrap())
        .await
        .unwrap();
    let cursors = [Cursor::new(owned[0].shard, owned[0].epoch, EVENTS)];
    let request = FetchRequest::new(member.id, &cursors, 0);
    let rows = store.fetch(&request).await.unwrap().rows;
    let retry = |row: &outbox_core::store::Row| {
        let verdict = Verdict::Retry {
            attempts: 1,
            after: Duration::from_secs(10),
            error: "no".to_owned(),
        };
        Settlement::new(row.position, row.id, verdict)
    };
    let outcomes = [Outcomes::new(owned[0], rows.iter().map(retry).collect())];
    store
        .settle(member.id, &outcomes, History::Keep)
        .await
        .unwrap();
    store.leave(member.id).await.unwrap();
}

/// The most bytes of payloads in one answer of the store, and in handlers at once.
async fn most_bytes(store: &MemoryStore) -> [usize; 2] {
    let faulty = Faulty::new(store, |_| None);
    let longest = Arc::clone(&faulty.longest);
    let (held, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let most_held = Arc::clone(&most);
    let handle = move |event: Document, _: Delivery| {
        let (held, most) = (Arc::clone(&held), Arc::clone(&most));
        async move {
            let bytes = event.text.len();
            most.fetch_max(held.fetch_add(bytes, SeqCst) + bytes, SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            held.fetch_sub(bytes, SeqCst);
            Ok::<_, HandlerError>(())
        }
    };
    let dispatcher = Dispatcher::<Faulty>::builder(faulty)
        .on_event(handle)
        .configure(|config| config.bytes = BUDGET)
        .spawn(CancellationToken::new())
        .unwrap();
    until("all are delivered", || store.delivered().len() == EVENTS).await;
    dispatcher.shutdown().await;
    [longest.load(SeqCst), most_held.load(SeqCst)]
}

fn assert_within_the_budget([longest, held]: [usize; 2]) {
    assert!((LONG..=BUDGET / 2).contains(&longest), "{longest}");
    assert!((LONG..=BUDGET / 2).contains(&held), "{held}");
}

#[tokio::test(start_paused = true)]
async fn two_hundred_long_events_stay_within_the_budget() {
    let store = MemoryStore::new();
    documents(&store);
    assert_within_the_budget(most_bytes(&store).await);
}

#[tokio::test(start_paused = true)]
async fn long_events_that_fall_due_together_stay_within_the_budget() {
    let store = MemoryStore::new();
    documents(&store);
    fail_all(&store).await;
    assert_within_the_budget(most_bytes(&store).await);
}
