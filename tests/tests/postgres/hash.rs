//! The shard of an aggregate is for ever: events of one aggregate must not be in two.

use super::database::Database;
use outbox_core::Draft;
use outbox_tests::conformance::{Noted, Thing};

#[tokio::test]
async fn shards_are_what_they_always_were() {
    let database = Database::plain().await;
    for key in ["a", "b", "order-1", "é"] {
        database.emit(Thing::of(key, "said")).await;
    }
    let sql = "INSERT INTO outbox_event (id, aggregatetype, aggregateid, topic, payload, ordered) \
        VALUES ('00000000-0000-0000-0000-000000000001', 'thing', 'a', 't', '1', false), \
        ('00000000-0000-0000-0000-000000000001', 'thing', NULL, 't', '1', true)";
    database.execute(sql, []).await;
    let sql = "SELECT string_agg(format('%s %s %s: %s', aggregatetype, aggregateid, ordered, shard), \
        E'\\n' ORDER BY seq) AS text FROM outbox_event";
    let text: String = database.query(sql).await[0].try_get("", "text").unwrap();
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn keys_that_differ_in_case_or_accent_are_different() {
    let database = Database::plain().await;
    for key in ["abc", "ABC", "äbc", "a\u{308}bc"] {
        database.emit(Thing::of(key, "said")).await;
    }
    let sql = "SELECT count(DISTINCT aggregateid) AS n FROM outbox_event";
    assert_eq!(database.number(sql).await, 4);
}

#[tokio::test]
async fn aggregates_and_unordered_events_are_spread() {
    let database = Database::plain().await;
    let note = Noted {
        text: "hello".to_owned(),
    };
    let sql = "INSERT INTO outbox_event (id, aggregatetype, aggregateid, topic, payload) \
        SELECT gen_random_uuid(), 'thing', n::text, 't', '{}' FROM generate_series(1, 6400) AS n";
    database.execute(sql, []).await;
    let sql =
        "SELECT min(n) AS n FROM (SELECT count(*) AS n FROM outbox_event GROUP BY shard) AS c";
    assert!(database.number(sql).await > 60);
    for _ in 0..100 {
        database.emit(Draft::new(&note)).await;
    }
    let sql = "SELECT count(DISTINCT shard) AS n FROM outbox_event WHERE NOT ordered";
    assert!(database.number(sql).await > 30);
}
