//! Two sessions that emit with one key. Interleaving 16, B174.

use super::harness::MariaDb;
use outbox_core::{Draft, Emitted};
use outbox_seaorm::{Emit, begin_immediate};
use outbox_tests::conformance::{Harness, Thing};
use sea_orm::{DatabaseTransaction, TransactionTrait};
use tokio::task::JoinHandle;

fn keyed(key: &str) -> Draft {
    Thing::said("one").dedupe_key(key)
}

/// A transaction that has emitted with the key `a`, and one that wants to emit with these and waits.
async fn meet(
    harness: &MariaDb,
    keys: &'static [&'static str],
) -> (DatabaseTransaction, Emitted, JoinHandle<Vec<Emitted>>) {
    let first = harness.0.db.begin().await.unwrap();
    let emitted = first.emit(keyed("a")).await.unwrap();
    let db = harness.0.db.clone();
    let second = tokio::spawn(async move {
        let txn = db.begin().await.unwrap();
        let events = keys.iter().map(|key| keyed(key));
        let emitted = txn.emit_all(events).await.unwrap();
        txn.commit().await.unwrap();
        emitted
    });
    harness.0.wait_for_waiters().await;
    (first, emitted, second)
}

#[tokio::test]
async fn one_that_comes_second_waits_and_is_a_duplicate() {
    let harness = MariaDb::fresh().await;
    let (first, emitted, second) = meet(&harness, &["a"]).await;
    first.commit().await.unwrap();
    let second = second.await.unwrap();
    assert_eq!(second, [Emitted::Duplicate(emitted.id())]);
    assert_eq!(harness.pending().await.len(), 1);
}

#[tokio::test]
async fn one_that_comes_second_is_new_when_the_first_rolls_back() {
    let harness = MariaDb::fresh().await;
    let (first, _, second) = meet(&harness, &["a"]).await;
    first.rollback().await.unwrap();
    let second = second.await.unwrap();
    assert!(!second[0].is_duplicate());
    assert_eq!(harness.pending().await[0].id, second[0].id());
}

/// Whoever waits for a key holds none that comes after it.
#[tokio::test]
async fn keys_are_taken_in_their_order() {
    let harness = MariaDb::fresh().await;
    let (first, a, second) = meet(&harness, &["c", "a", "b"]).await;
    let c = first.emit(keyed("c")).await.unwrap();
    first.commit().await.unwrap();
    let second = second.await.unwrap();
    assert_eq!(second[..2], [c, a].map(|one| Emitted::Duplicate(one.id())));
    assert!(!second[2].is_duplicate());
}

/// However many come at once, one of them is the first.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_emit_with_one_key_one_is_new() {
    let harness = MariaDb::fresh().await;
    let emits = (0..32).map(|_| {
        let db = harness.0.db.clone();
        tokio::spawn(async move {
            let txn = begin_immediate(&db).await.unwrap();
            let emitted = txn.emit(keyed("a")).await.unwrap();
            txn.commit().await.unwrap();
            emitted
        })
    });
    let mut all = Vec::new();
    for emit in emits.collect::<Vec<_>>() {
        all.push(emit.await.unwrap());
    }
    let id = harness.pending().await[0].id;
    assert!(all.iter().all(|one| one.id() == id));
    let new = all.iter().filter(|one| !one.is_duplicate());
    assert_eq!(new.count(), 1);
}
