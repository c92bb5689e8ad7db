//! What is emitted arrives whole, whatever the database and the session default to.

use super::{
    database::Database,
    harness::{MariaDb, Sessions},
};
use outbox_core::store::{DeadReason, Store, Verdict};
use outbox_seaorm::{Emit, entity::event, schema};
use outbox_tests::conformance::{Actor, Harness, Thing, atomic};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, TransactionTrait};

// B006
#[tokio::test]
async fn an_emoji_survives_a_database_of_any_character_set() {
    for charset in ["latin1", "utf8mb3", "utf8mb4 COLLATE utf8mb4_general_ci"] {
        let database = Database::empty(charset).await;
        schema::create(&database.db).await.unwrap();
        let harness: MariaDb = Sessions(database);
        harness
            .emit(Thing::of("k🦀", "é🦀").header("who", "🦀"))
            .await;
        let row = Actor::owner(&harness).await.rows().await.remove(0);
        assert_eq!(row.key.as_deref(), Some("k🦀"));
        let body = row.body.unwrap();
        let payload: serde_json::Value = serde_json::from_str(&body.payload).unwrap();
        assert_eq!(payload["text"], "é🦀");
        let headers: serde_json::Value = serde_json::from_str(&body.headers).unwrap();
        assert_eq!(headers["who"], "🦀");
    }
}

// B013
#[tokio::test]
async fn a_hundred_thousand_events_are_all_or_nothing_and_keep_their_order() {
    let harness = MariaDb::fresh().await;
    atomic::a_hundred_thousand_events_are_all_or_nothing_and_keep_their_order(&harness).await;
}

#[tokio::test]
async fn the_error_of_a_failure_survives_it_too() {
    let harness = MariaDb::fresh().await;
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(&harness).await;
    let row = owner.rows().await.remove(0);
    let error = "ü🦀 \"\\ \u{1} '".to_owned();
    let retry = Verdict::Retry {
        attempts: 1,
        after: std::time::Duration::ZERO,
        error: error.clone(),
    };
    owner.settle(&row, retry).await;
    let pending = harness.pending().await.remove(0);
    assert_eq!(pending.last_error.as_deref(), Some(&*error));
    let dead = Verdict::Dead {
        reason: DeadReason::Exhausted,
        error: error.clone(),
        blocks: true,
    };
    owner.settle(&row, dead).await;
    assert_eq!(harness.dead().await[0].error, error);
}

// B020
#[tokio::test]
async fn keys_that_a_collation_takes_for_equal_are_apart() {
    let harness = MariaDb::fresh().await;
    let keys = ["k1", "K1", "é", "e", "straße", "strasse"];
    for key in keys {
        harness.emit(Thing::of(key, "x")).await;
    }
    let db = &harness.0.db;
    for key in keys {
        let same = event::Entity::find().filter(event::Column::AggregateId.eq(key));
        assert_eq!(same.count(db).await.unwrap(), 1, "{key}");
    }
    let owner = Actor::owner(&harness).await;
    let rows = owner.rows().await;
    let dead = Verdict::Dead {
        reason: DeadReason::Rejected,
        error: String::new(),
        blocks: true,
    };
    // Rows come in order within a shard only.
    let k1 = rows.iter().find(|row| row.key.as_deref() == Some("k1"));
    owner.settle(k1.unwrap(), dead).await;
    let shards: Vec<_> = owner.owned.iter().map(|owned| owned.shard).collect();
    let blocked = owner.store.blocked(&shards).await.unwrap();
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0].key.as_deref(), Some("k1"));
}

#[tokio::test]
async fn an_aggregate_has_one_shard_whatever_the_connection() {
    let database = Database::fresh().await;
    for first in [
        "SET NAMES utf8mb4",
        "SET NAMES latin1",
        "SET NAMES utf8mb4 COLLATE utf8mb4_bin, sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'",
    ] {
        let db = database.open(1, first).await;
        let txn = db.begin().await.unwrap();
        txn.emit_all([Thing::of("key", "one"), Thing::of("key", "two")])
            .await
            .unwrap();
        txn.commit().await.unwrap();
    }
    let shards: Vec<i16> = database
        .values("SELECT DISTINCT shard AS v FROM outbox_event")
        .await;
    // CRC32("thing") + CRC32("key"), modulo 64: the same on every server, for ever.
    assert_eq!(shards, [SHARD_OF_THING_KEY]);
}

const SHARD_OF_THING_KEY: i16 = 44;

// B011
#[tokio::test]
async fn nothing_is_cut_without_strict_mode() {
    let harness = MariaDb::fresh().await;
    let db = harness.0.open(1, "SET sql_mode = ''").await;
    let key = "🦀".repeat(125);
    for length in [65_535, 65_536, 700_000] {
        let text = "x".repeat(length);
        let header = "y".repeat(15_000);
        let txn = db.begin().await.unwrap();
        txn.emit(Thing::of(&key, &text).header("long", header))
            .await
            .unwrap();
        txn.commit().await.unwrap();
        let owner = Actor::owner(&harness).await;
        let row = owner.rows().await.remove(0);
        assert_eq!(row.key.as_deref(), Some(&*key));
        let row = owner
            .store
            .read(&[row.position], usize::MAX)
            .await
            .unwrap()
            .remove(0);
        let body = row.body.clone().unwrap();
        assert_eq!(row.size, body.payload.len() + body.headers.len());
        let payload: serde_json::Value = serde_json::from_str(&body.payload).unwrap();
        assert_eq!(payload["text"].as_str().map(str::len), Some(length));
        owner.settle(&row, Verdict::Done).await;
        owner.store.leave(owner.member.id).await.unwrap();
    }
    let kept: Vec<i64> = harness
        .0
        .values("SELECT OCTET_LENGTH(payload) AS v FROM outbox_delivered ORDER BY seq")
        .await;
    assert!(kept[2] > 700_000);
}

// B179
#[tokio::test]
async fn positions_have_64_bits() {
    let harness = MariaDb::fresh().await;
    let start = (1_i64 << 53) + 1;
    let sql = format!("ALTER TABLE outbox_event AUTO_INCREMENT = {start}");
    harness.0.execute(&sql, []).await;
    for _ in 0..3 {
        harness.emit(Thing::said("one")).await;
    }
    let owner = Actor::owner(&harness).await;
    let rows = owner.rows().await;
    assert_eq!(rows[0].position, start);
    let retry = Verdict::Retry {
        attempts: 1,
        after: std::time::Duration::ZERO,
        error: String::new(),
    };
    owner.settle(&rows[0], retry).await;
    owner.settle(&rows[1], Verdict::Done).await;
    let left = owner
        .store
        .read(&[start, start + 1], usize::MAX)
        .await
        .unwrap();
    assert_eq!((left.len(), left[0].attempts), (1, 1));
}

/// MariaDB's JSON functions end at 32 levels: they must not decide what may be emitted.
#[tokio::test]
async fn a_payload_may_be_deep() {
    let database = Database::fresh().await;
    let payload = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let sql = "INSERT INTO outbox_event (id, aggregatetype, topic, payload) \
               VALUES (UNHEX(REPEAT('1', 32)), 'a', 't', ?)";
    database.execute(sql, [payload.as_str().into()]).await;
    let stored: Vec<String> = database
        .values("SELECT payload AS v FROM outbox_event")
        .await;
    assert_eq!(stored, [payload]);
}
