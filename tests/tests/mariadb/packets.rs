//! The server takes packets up to 1 MiB: batches are cut below it.

use super::{
    database::Database,
    harness::{MariaDb, Sessions},
};
use outbox_core::store::{DeadReason, Settled, Settlement, Store, Verdict};
use outbox_seaorm::{Emit, EmitErrorKind, Limits, Outbox};
use outbox_tests::{
    conformance::{
        Actor, Harness, Thing,
        content::{LENGTHS, lengths_that_come_back},
    },
    servers::PrivateServer,
};
use sea_orm::TransactionTrait;
use std::time::Duration;

const WRITTEN: Settled = Settled::Written { gone: Vec::new() };

// B012
#[tokio::test]
async fn many_large_events_come_through() {
    let harness = MariaDb::fresh().await;
    let text = "x".repeat(100_000);
    let txn = harness.0.db.begin().await.unwrap();
    txn.emit_all((0..40).map(|_| Thing::said(&text)))
        .await
        .unwrap();
    txn.commit().await.unwrap();
    let owner = Actor::owner(&harness).await;
    let rows = owner.rows().await;
    assert_eq!(rows.len(), 40);
    assert!(rows.iter().all(|row| row.body.is_none()));
    let positions: Vec<_> = rows.iter().map(|row| row.position).collect();
    let read = owner.store.read(&positions, usize::MAX).await.unwrap();
    assert!(read.iter().all(|row| row.body.is_some()));
    let done = |row: &outbox_core::store::Row| Settlement::new(row.position, row.id, Verdict::Done);
    let done: Vec<_> = rows.iter().map(done).collect();
    assert_eq!(owner.settle_all(rows[0].shard, &done).await, WRITTEN);
    assert_eq!(harness.delivered().await.len(), 40);
}

#[tokio::test]
async fn many_long_errors_are_written() {
    let harness = MariaDb::fresh().await;
    let txn = harness.0.db.begin().await.unwrap();
    txn.emit_all((0..500).map(|_| Thing::said("x")))
        .await
        .unwrap();
    txn.commit().await.unwrap();
    let owner = Actor::owner(&harness).await;
    let rows = owner.rows().await;
    // The longest form that JSON has for a byte.
    let error = "\u{1}".repeat(2_000);
    let dead = Verdict::Dead {
        reason: DeadReason::Exhausted,
        error: error.clone(),
        blocks: false,
    };
    let retry = Verdict::Retry {
        attempts: 1,
        after: Duration::ZERO,
        error,
    };
    for verdict in [retry, dead] {
        let outcome =
            |row: &outbox_core::store::Row| Settlement::new(row.position, row.id, verdict.clone());
        let outcomes: Vec<_> = rows.iter().map(outcome).collect();
        assert_eq!(owner.settle_all(rows[0].shard, &outcomes).await, WRITTEN);
    }
    assert_eq!(harness.dead().await.len(), 500);
    assert_eq!(harness.dead().await[499].error.len(), 2_000);
}

// B011
#[tokio::test]
async fn a_payload_of_any_length_comes_back_through_larger_packets() {
    let server = PrivateServer::mariadb();
    let harness: MariaDb = Sessions(Database::at(server.url()).await);
    assert_eq!(lengths_that_come_back(&harness).await, LENGTHS);
}

#[tokio::test]
async fn an_event_that_no_packet_holds_is_told_and_the_pool_goes_on() {
    let harness = MariaDb::fresh().await;
    let mut limits = Limits::default();
    limits.payload_bytes = 64 * 1024 * 1024;
    let outbox = Outbox::builder().limits(limits).build().unwrap();
    for length in [1_100_000, 17 * 1024 * 1024] {
        let txn = harness.0.db.begin().await.unwrap();
        outbox.emit(&txn, Thing::said("one")).await.unwrap();
        let error = outbox.emit(&txn, Thing::said(&"x".repeat(length))).await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), EmitErrorKind::Database);
        drop(txn);
        harness.emit(Thing::said("two")).await;
    }
    assert_eq!(harness.pending().await.len(), 2);
}
