//! Several settles at once. Interleaving 24.

use super::{database::execute, harness::Postgres};
use outbox_core::{CancellationToken, Delivery, Dispatcher, HandlerError};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::{Harness, Thing};
use sea_orm::TransactionTrait;
use std::time::Duration;

/// Waits until a number is 0.
async fn until_none(harness: &Postgres<false>, sql: &str) {
    let none = async {
        while harness.0.number(sql).await > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), none).await;
    assert!(waited.is_ok(), "there are some left: {sql}");
}

/// A settle waits for rows that somebody else has locked. Those of other shards do not wait for it,
/// and what comes after it in its own shard does.
#[tokio::test]
async fn a_settle_that_waits_holds_up_its_own_shards_only() {
    let harness = Postgres::<false>::fresh().await;
    let sql = "INSERT INTO outbox_event (id, aggregatetype, aggregateid, topic, payload, headers) \
        SELECT gen_random_uuid(), 'thing', n::text, 'thing.said', \
        jsonb_build_object('key', n::text, 'text', 'x'), '{\"schema_version\": 3}' \
        FROM generate_series(1, 100) AS n";
    harness.0.execute(sql, []).await;
    let txn = harness.0.db.begin().await.unwrap();
    let lock = "SELECT 1 FROM outbox_event \
        WHERE seq = (SELECT seq FROM outbox_event ORDER BY shard, seq LIMIT 1) FOR UPDATE";
    execute(&txn, lock, []).await;
    let dispatcher = Dispatcher::<SeaOrmStore>::builder(harness.store())
        .on_event(async |_: Thing, _: Delivery| Ok::<_, HandlerError>(()))
        .configure(|config| config.settle_batch = 1)
        .spawn(CancellationToken::new())
        .unwrap();
    let others = "SELECT count(*) AS n FROM outbox_event \
        WHERE shard <> (SELECT min(shard) FROM outbox_event)";
    until_none(&harness, others).await;
    harness.wait_for_waiters().await;
    let first = "SELECT count(*) AS n FROM outbox_event";
    assert!(harness.0.number(first).await > 0);
    txn.rollback().await.unwrap();
    until_none(&harness, first).await;
    dispatcher.shutdown().await;
}
