//! Two sessions that emit with one key, and what one of them may be told. Interleaving 16.

use super::harness::Postgres;
use outbox_core::{Draft, Emitted};
use outbox_seaorm::{Emit, EmitErrorKind};
use outbox_tests::conformance::{Harness, Thing};
use sea_orm::{DatabaseTransaction, IsolationLevel, TransactionTrait};

fn keyed(key: &str) -> Draft {
    Thing::said("one").dedupe_key(key)
}

/// The transaction cannot know the other's event: it is to be run again.
#[tokio::test]
async fn under_repeatable_read_a_concurrent_duplicate_is_contention() {
    let harness = Postgres::<false>::fresh().await;
    let first = harness.0.db.begin().await.unwrap();
    let emitted = first.emit(keyed("a")).await.unwrap();
    let begin = || {
        let isolation = Some(IsolationLevel::RepeatableRead);
        harness.0.db.begin_with_config(isolation, None)
    };
    let second = begin().await.unwrap();
    second.emit(Thing::said("two")).await.unwrap();
    first.commit().await.unwrap();
    let error = second.emit(keyed("a")).await.unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::Contention);
    second.rollback().await.unwrap();
    let again = begin().await.unwrap().emit(keyed("a")).await.unwrap();
    assert_eq!(again, Emitted::Duplicate(emitted.id()));
}

/// Two transactions that emit the same keys one by one, each in its own order.
#[tokio::test]
async fn opposite_orders_are_a_deadlock_that_one_is_told_of() {
    let harness = Postgres::<false>::fresh().await;
    let (first, second) = (harness.0.db.begin(), harness.0.db.begin());
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    first.emit(keyed("a")).await.unwrap();
    second.emit(keyed("b")).await.unwrap();
    let end = async |txn: DatabaseTransaction, key| match txn.emit(keyed(key)).await {
        Ok(_) => txn.commit().await.map(|()| None).unwrap(),
        Err(error) => txn.rollback().await.map(|()| Some(error.kind())).unwrap(),
    };
    let ends = tokio::join!(end(first, "b"), end(second, "a"));
    let (lost, won) = (ends.0.or(ends.1), ends.0.and(ends.1));
    assert_eq!((lost, won), (Some(EmitErrorKind::Contention), None));
    assert_eq!(harness.pending().await.len(), 2);
}
