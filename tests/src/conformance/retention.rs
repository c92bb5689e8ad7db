//! What has been done with is kept for a time.

use super::{
    Actor, Harness, Table, Thing,
    failure::dead,
    operators::{operator, requeue},
};
use outbox_core::{
    Emitted, Retention,
    store::{DeadReason, Kept, Row, Store, Verdict},
};
use outbox_seaorm::{Inbox, inbox::Once};
use sea_orm::DbErr;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(400);
const HOUR: Duration = Duration::from_secs(3_600);

/// Delivers events, the later ones after a while.
async fn delivered<H: Harness>(harness: &H) -> (Actor<H::Store>, Vec<Row>) {
    for text in ["one", "two", "three", "four"] {
        harness.emit(Thing::said(text)).await;
    }
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    for row in &rows[..2] {
        owner.settle(row, Verdict::Done).await;
    }
    harness.pass(SOON).await;
    for row in &rows[2..] {
        owner.settle(row, Verdict::Done).await;
    }
    (owner, rows)
}

async fn left<H: Harness>(harness: &H) -> Vec<i64> {
    let delivered = harness.delivered().await;
    delivered.iter().map(|row| row.position).collect()
}

/// Neither what is younger, nor more than is asked for.
pub async fn history_is_pruned_by_age<H: Harness>(harness: &H) {
    let (owner, rows) = delivered(harness).await;
    let at: Vec<_> = rows.iter().map(|row| row.position).collect();
    let prune = |age, limit| owner.store.prune(Kept::Delivered, age, limit);
    assert_eq!(prune(HOUR, 10).await.unwrap(), 0);
    assert_eq!(prune(SOON, 1).await.unwrap(), 1);
    assert_eq!(left(harness).await, at[1..]);
    assert_eq!(prune(SOON, 10).await.unwrap(), 1);
    assert_eq!(prune(SOON, 10).await.unwrap(), 0);
    assert_eq!(left(harness).await, at[2..]);
    assert_eq!(prune(Duration::ZERO, 10).await.unwrap(), 2);
    assert!(left(harness).await.is_empty());
}

/// Two at once, while one has lost its turn and does not know, only find less to do.
pub async fn of_several_that_prune_each_row_goes_once<H: Harness>(harness: &H) {
    let Some(tables) = harness.tables() else {
        return;
    };
    tables.fill(Table::Delivered, 2_000).await;
    let store = harness.store();
    let prune = async || {
        let mut deleted = 0;
        loop {
            let rows = store.prune(Kept::Delivered, HOUR, 50).await.unwrap();
            deleted += rows;
            if rows == 0 {
                return deleted;
            }
        }
    };
    let (one, two, three) = tokio::join!(prune(), prune(), prune());
    assert_eq!(one + two + three, 2_000);
    assert!(left(harness).await.is_empty());
}

/// An aggregate waits for somebody to decide, however long that takes.
pub async fn a_letter_that_blocks_is_never_pruned<H: Harness>(harness: &H) {
    for key in ["a", "b", "c"] {
        harness.emit(Thing::of(key, "one")).await;
    }
    let owner = Actor::owner(harness).await;
    let mut rows = owner.rows().await;
    rows.sort_by_key(|row| row.position);
    for (row, blocks) in rows.iter().zip([true, false, true]) {
        owner.settle(row, dead(DeadReason::Rejected, blocks)).await;
    }
    let prune = |age| owner.store.prune(Kept::Dead, age, 10);
    assert_eq!(prune(HOUR).await.unwrap(), 0);
    harness.pass(Duration::from_millis(5)).await;
    assert_eq!(prune(Duration::ZERO).await.unwrap(), 1);
    let dead = harness.dead().await;
    let left: Vec<_> = dead.iter().map(|row| row.position).collect();
    assert_eq!(left, [rows[0].position, rows[2].position]);
}

/// Also the record of what operators did does not grow for ever.
pub async fn the_record_of_operators_is_pruned<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(harness).await;
    let row = owner.rows().await.remove(0);
    owner.settle(&row, dead(DeadReason::Rejected, true)).await;
    requeue(harness, row.position).await;
    let prune = |age| owner.store.prune(Kept::Operations, age, 10);
    assert_eq!(prune(HOUR).await.unwrap(), 0);
    harness.pass(Duration::from_millis(5)).await;
    assert_eq!(prune(Duration::ZERO).await.unwrap(), 1);
    let done = operator(harness).operations(None).await.unwrap();
    assert_eq!(done.items, []);
}

/// The oldest first, whole, and only what was taken is deleted.
pub async fn an_archive_gets_events_before_they_go<H: Harness>(harness: &H) {
    let (owner, rows) = delivered(harness).await;
    assert_eq!(owner.store.expired(HOUR, 10).await.unwrap(), []);
    let expired = owner.store.expired(SOON, 10).await.unwrap();
    let mut ids: Vec<_> = expired.iter().map(|row| row.event.id).collect();
    ids.sort();
    let mut expected = vec![rows[0].id, rows[1].id];
    expected.sort();
    assert_eq!(ids, expected);
    let first = expired.iter().find(|row| row.event.id == rows[0].id);
    let first = first.unwrap();
    let payload: serde_json::Value = serde_json::from_str(&first.event.payload).unwrap();
    assert_eq!(payload["text"], "one");
    assert_eq!(
        (&*first.event.topic, first.event.key.as_deref()),
        ("thing.said", Some("a"))
    );
    let body = rows[0].body.as_ref().unwrap();
    assert_eq!(first.event.occurred_at, body.occurred_at);
    assert!(first.created_at <= first.delivered_at);
    assert_eq!(owner.store.expired(SOON, 1).await.unwrap().len(), 1);

    let other = uuid::Uuid::now_v7();
    let (one, two) = (rows[0].position, rows[1].position);
    let keys = [(one, rows[0].id), (two, other), (two + 100, other)];
    assert_eq!(owner.store.forget(&keys).await.unwrap(), 1);
    assert_eq!(owner.store.forget(&keys).await.unwrap(), 0);
    assert_eq!(left(harness).await.len(), 3);
}

/// Those that have run out, and no others.
pub async fn dedupe_keys_are_pruned<H: Harness>(harness: &H) {
    let event = |key: &str, window| Thing::said("one").dedupe_key(key).dedupe_window(window);
    let events = || vec![event("short", SOON), event("long", HOUR)];
    let first = harness.emit_all(events()).await;
    harness.pass(SOON).await;
    let store = harness.store();
    let prune = || store.prune(Kept::DedupeKeys, Duration::ZERO, 10);
    assert_eq!(prune().await.unwrap(), 1);
    assert_eq!(prune().await.unwrap(), 0);
    let second = harness.emit_all(events()).await;
    assert!(!second[0].is_duplicate());
    assert_eq!(second[1], Emitted::Duplicate(first[1].id()));
}

/// The oldest first; what was forgotten is new.
pub async fn an_inbox_is_pruned_by_age<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let inbox = Inbox::builder("mails").outbox(&tables.outbox);
    let inbox = inbox.build().unwrap();
    let events = [uuid::Uuid::now_v7(), uuid::Uuid::now_v7()];
    let once = async |event| {
        let done = inbox.once(&tables.db, event, async |_| Ok::<_, DbErr>(()));
        done.await.unwrap()
    };
    once(events[0]).await;
    let store = harness.store();
    let prune = |age| store.prune(Kept::Inbox, age, 1);
    assert_eq!(prune(HOUR).await.unwrap(), 0);
    harness.pass(SOON).await;
    once(events[1]).await;
    assert_eq!(prune(SOON).await.unwrap(), 1);
    assert_eq!(once(events[1]).await, Once::Duplicate);
    assert_eq!(once(events[0]).await, Once::Done(()));
}

/// A batch at a time, until nothing is left.
pub async fn a_service_without_a_dispatcher_prunes<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let inbox = Inbox::builder("mails").outbox(&tables.outbox);
    let inbox = inbox.lease(Duration::ZERO).build().unwrap();
    for _ in 0..25 {
        let event = uuid::Uuid::now_v7();
        inbox.begin(&tables.db, event).await.unwrap();
    }
    let mut retention = Retention::default();
    retention.batch = 10;
    for (age, deleted) in [(HOUR, 0), (Duration::ZERO, 25)] {
        retention.inbox = Some(age);
        harness.pass(Duration::from_millis(5)).await;
        let pruned = tables.outbox.prune(&tables.db, &retention).await;
        assert_eq!(pruned.unwrap(), deleted);
    }
}
