//! Many that emit with one key. B174.

use super::harness::Sqlite;
use outbox_core::Draft;
use outbox_seaorm::{Emit, begin_immediate};
use outbox_tests::conformance::{Harness, Thing};

fn keyed(key: &str) -> Draft {
    Thing::said("one").dedupe_key(key)
}

/// However many come at once, one of them is the first.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_emit_with_one_key_one_is_new() {
    let harness = Sqlite::<true>::fresh().await;
    let emits = (0..32).map(|_| {
        let db = harness.connection();
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
