//! What the database could refuse is found before any SQL: the transaction stays usable.

use crate::support::{OrderEvent, keys, memory, noted, placed, rows};
use chrono::{DateTime, Utc};
use outbox_seaorm::{
    Draft, Emit, EmitErrorKind, InvalidEventKind as Kind, Limits, Outbox, OutboxEvent,
};
use sea_orm::TransactionTrait;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "map", topic = "map.set", unordered)]
struct MapSet {
    map: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "number", topic = "number.measured", unordered)]
struct Measured {
    value: f64,
}

fn far() -> DateTime<Utc> {
    DateTime::from_timestamp(253_402_300_800, 0).unwrap()
}

// B001, B026
#[tokio::test]
async fn an_invalid_event_is_an_error_before_any_sql() {
    let map = |key: &str, value: &str| MapSet {
        map: BTreeMap::from([(key.to_owned(), value.to_owned())]),
    };
    let cases: Vec<(Kind, &str, Draft)> = vec![
        (Kind::Nul, "field", Draft::new(&noted(1, "a\0b"))),
        (Kind::Nul, "map key", Draft::new(&map("a\0", ""))),
        (Kind::Nul, "map value", Draft::new(&map("", "\0"))),
        (
            Kind::Nul,
            "header",
            Draft::new(&placed(1)).header("h", "\0"),
        ),
        (Kind::Nul, "key", Draft::new(&placed("a\0b"))),
        (Kind::Key, "empty key", Draft::new(&placed(""))),
        (Kind::Key, "long key", Draft::new(&placed("x".repeat(501)))),
        (
            Kind::Key,
            "long key in bytes",
            Draft::new(&placed("é".repeat(251))),
        ),
        (
            Kind::PayloadTooLarge,
            "size",
            Draft::new(&noted(1, "x".repeat(1024 * 1024))),
        ),
        (
            Kind::Header,
            "header name",
            Draft::new(&placed(1)).header("a b", ""),
        ),
        (
            Kind::Header,
            "empty header name",
            Draft::new(&placed(1)).header("", ""),
        ),
        (
            Kind::Header,
            "long header name",
            Draft::new(&placed(1)).header("x".repeat(101), ""),
        ),
        (
            Kind::Header,
            "all headers",
            Draft::new(&placed(1)).header("h", "x".repeat(17_000)),
        ),
        (
            Kind::Header,
            "own version",
            Draft::new(&placed(1)).header("schema_version", 9),
        ),
        (
            Kind::Decode,
            "NaN",
            Draft::new(&Measured { value: f64::NAN }),
        ),
        (
            Kind::Time,
            "occurred",
            Draft::new(&placed(1)).occurred_at(far()),
        ),
        (Kind::Time, "at", Draft::new(&placed(1)).at(far())),
        (
            Kind::Time,
            "after",
            Draft::new(&placed(1)).after(Duration::MAX),
        ),
    ];
    let cases = cases.into_iter().chain(
        [
            ("empty dedupe key", "".to_owned(), 1),
            ("long dedupe key", "é".repeat(126), 1),
            ("NUL in a dedupe key", "a\0".to_owned(), 1),
            ("space at the end of a dedupe key", "a ".to_owned(), 1),
            ("no window", "a".to_owned(), 0),
            ("long window", "a".to_owned(), u64::MAX),
        ]
        .map(|(what, key, window)| {
            let draft = Draft::new(&placed(1)).dedupe_key(key);
            let draft = draft.dedupe_window(Duration::from_secs(window));
            (Kind::DedupeKey, what, draft)
        }),
    );
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    for (kind, what, draft) in cases {
        let error = txn.emit(draft).await.expect_err(what);
        assert_eq!(
            error.kind(),
            EmitErrorKind::Invalid(kind),
            "{what}: {error:?}"
        );
    }
    txn.emit(placed("good")).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await, ["good"]);
}

#[tokio::test]
async fn one_invalid_event_of_many_means_none_is_sent() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let mut events: Vec<_> = (0..10_000).map(placed).collect();
    events[9_999] = placed("");
    let error = txn.emit_all(events).await.unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::Invalid(Kind::Key));
    assert_eq!(error.index(), Some(9_999));
    txn.emit(placed("good")).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await, ["good"]);
}

// B001: text that only looks like an escape is ordinary text.
#[tokio::test]
async fn a_literal_backslash_u0000_is_stored() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let event = noted(r"\u0000", r"\u0000 \\u0000");
    txn.emit(event.clone())
        .header("h", r"\u0000")
        .await
        .unwrap();
    txn.commit().await.unwrap();
    let rows = rows(&db).await;
    assert_eq!(rows[0].aggregate_id.as_deref(), Some(r"\u0000"));
    assert_eq!(rows[0].headers["h"], r"\u0000");
    let read = OrderEvent::PLACED
        .decode(&rows[0].payload.to_string())
        .unwrap();
    assert_eq!(read, event);
}

// B011
#[tokio::test]
async fn the_size_limit_can_be_raised() {
    let limits = {
        let mut limits = Limits::default();
        limits.payload_bytes = 16 * 1024 * 1024;
        limits
    };
    let outbox = Outbox::builder().limits(limits).build().unwrap();
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let lengths = [65_535, 65_536, 1024 * 1024, 15 * 1024 * 1024];
    for length in lengths {
        outbox
            .emit(&txn, noted(1, "x".repeat(length)))
            .await
            .unwrap();
    }
    txn.commit().await.unwrap();
    for (row, length) in rows(&db).await.iter().zip(lengths) {
        assert_eq!(row.payload["note"].as_str().unwrap().len(), length);
    }
}
