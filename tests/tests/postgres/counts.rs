//! What it costs to deliver: bytes of the write-ahead log, which is what a server is slow at.

use super::harness::Postgres;
use outbox_core::store::{History, Outcomes, Row, Settlement, Store, Verdict};
use outbox_tests::conformance::{Actor, Harness};
use std::collections::BTreeMap;

const EVENTS: i64 = 2_000;

const PAYLOAD: usize = 150;

/// Emits events with payloads of 150 bytes, and settles them in batches of 100 as a dispatcher does;
/// the bytes that the inserts and the settles wrote, an event. Other tests write at the same time: the
/// lowest of several tries is closest to the truth.
async fn wal(history: History) -> [i64; 2] {
    let mut lowest = [i64::MAX; 2];
    for _ in 0..5 {
        let harness = Postgres::<false>::fresh().await;
        let sql = format!(
            "INSERT INTO outbox_event (id, aggregatetype, aggregateid, topic, payload) \
             SELECT gen_random_uuid(), 'order', (n % 50)::text, 'order.placed', \
             jsonb_build_object('text', repeat('x', {PAYLOAD} - 12)) FROM generate_series(1, {EVENTS}) AS n"
        );
        let start = written(&harness).await;
        harness.0.execute(&sql, []).await;
        let emitted = written(&harness).await - start;
        let owner = Actor::owner(&harness).await;
        let rows = owner.rows().await;
        assert_eq!(rows.len(), usize::try_from(EVENTS).unwrap());
        let before = written(&harness).await;
        for batch in rows.chunks(100) {
            settle(&owner, batch, history).await;
        }
        let settled = written(&harness).await - before;
        lowest = [
            lowest[0].min(emitted / EVENTS),
            lowest[1].min(settled / EVENTS),
        ];
        assert_eq!(harness.pending().await, []);
    }
    lowest
}

async fn written(harness: &Postgres<false>) -> i64 {
    let sql = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS n";
    harness.0.number(sql).await
}

async fn settle<S: Store>(owner: &Actor<S>, rows: &[Row], history: History) {
    let mut shards = BTreeMap::<_, Vec<_>>::new();
    for row in rows {
        let outcome = Settlement::new(row.position, row.id, Verdict::Done);
        shards.entry(row.shard).or_default().push(outcome);
    }
    let outcomes: Vec<_> = shards
        .into_iter()
        .map(|(shard, outcomes)| Outcomes::new(owner.of(shard), outcomes))
        .collect();
    let settled = owner.store.settle(owner.member.id, &outcomes, history);
    settled.await.unwrap();
}

#[tokio::test]
async fn a_delivered_event_costs_few_bytes_of_log() {
    let [emitted, discarded] = wal(History::Discard).await;
    let [_, kept] = wal(History::Keep).await;
    println!(
        "bytes of log an event of {PAYLOAD} bytes: {emitted} to insert it, then {discarded} to \
         delete it, or {kept} with the history"
    );
    assert!(discarded <= 100, "{discarded}");
    // With two indexes on the history, by age and by id.
    assert!(kept <= 700, "{kept}");
    assert!(emitted <= 600, "{emitted}");
}
