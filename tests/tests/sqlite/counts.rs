//! What a verb writes: row changes are what a database is slow at.

use super::{database::Database, harness::Sqlite};
use outbox_core::store::{DeadReason, History, Settlement, Verdict};
use outbox_tests::conformance::{Actor, Harness, Thing};
use std::time::Duration;

/// How many rows it changes to settle ten events like this.
async fn changes(verdict: Verdict, history: History) -> i64 {
    let harness = Sqlite::<false>::fresh().await;
    for _ in 0..10 {
        harness.emit(Thing::said("one")).await;
    }
    let owner = Actor::owner(&harness).await;
    let rows = owner.rows().await;
    let outcome =
        |row: &outbox_core::store::Row| Settlement::new(row.position, row.id, verdict.clone());
    let outcomes: Vec<_> = rows.iter().map(outcome).collect();
    let before = harness.changes().await.unwrap();
    owner.try_settle(0, &outcomes, history).await.unwrap();
    harness.changes().await.unwrap() - before
}

#[tokio::test]
async fn a_delivered_event_is_deleted_and_kept() {
    assert_eq!(changes(Verdict::Done, History::Keep).await, 20);
    assert_eq!(changes(Verdict::Done, History::Discard).await, 10);
}

#[tokio::test]
async fn a_failed_event_is_changed_once() {
    let retry = Verdict::Retry {
        attempts: 1,
        after: Duration::ZERO,
        error: "no".to_owned(),
    };
    assert_eq!(changes(retry, History::Keep).await, 10);
    let dead = Verdict::Dead {
        reason: DeadReason::Rejected,
        error: "no".to_owned(),
        blocks: true,
    };
    assert_eq!(changes(dead, History::Keep).await, 20);
}

#[tokio::test]
async fn an_idle_dispatcher_writes_nothing_but_its_lease() {
    use outbox_core::store::Store;
    let database = Database::in_memory().await;
    let store = database.store();
    let member = outbox_core::store::Member::new("here:1", "");
    store.join(&member, Duration::from_secs(600)).await.unwrap();
    let before = database.total_changes().await;
    store.check().await.unwrap();
    store.members().await.unwrap();
    store.shards().await.unwrap();
    store.blocked(&[0]).await.unwrap();
    assert_eq!(database.total_changes().await, before);
    assert!(
        store
            .renew(member.id, Duration::from_secs(600))
            .await
            .unwrap()
    );
    assert_eq!(database.total_changes().await, before + 1);
}
