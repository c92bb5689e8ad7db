//! What was emitted is what is delivered.

use super::{Actor, Harness, Noted, Thing};
use chrono::{DateTime, Utc};
use outbox_core::{
    Draft, Limits,
    store::{DeadReason, FetchRequest, Settled, Store, Verdict},
};
use outbox_seaorm::EmitErrorKind;
use sea_orm::TransactionTrait;
use uuid::Uuid;

/// Every column survives the way through the database.
pub async fn an_event_comes_back_as_it_was_emitted<H: Harness>(harness: &H) {
    let time = DateTime::from_timestamp_micros(1_767_225_600_123_000).unwrap();
    let event = Thing::of("k:é 1", "ü\"\\ 18446744073709551616");
    let id = harness
        .emit(event.occurred_at(time).header("tenant_id", "acme"))
        .await;
    let row = Actor::owner(harness).await.rows().await.remove(0);
    assert_eq!(row.id, id);
    assert_eq!(row.aggregate, "thing");
    assert_eq!(row.key.as_deref(), Some("k:é 1"));
    assert_eq!(row.topic, "thing.said");
    assert!(row.ordered);
    assert_eq!((row.attempts, row.crashes, row.retry_in), (0, 0, None));
    assert_eq!(row.fault, None);
    let body = row.body.unwrap();
    assert_eq!(row.size, body.payload.len() + body.headers.len());
    let payload: serde_json::Value = serde_json::from_str(&body.payload).unwrap();
    assert_eq!(
        payload,
        serde_json::json!({"key": "k:é 1", "text": "ü\"\\ 18446744073709551616"})
    );
    let headers: serde_json::Value = serde_json::from_str(&body.headers).unwrap();
    assert_eq!(
        headers,
        serde_json::json!({"schema_version": 3, "tenant_id": "acme"})
    );
    assert_eq!(body.occurred_at, time);
}

/// Whatever zone it was told in, and to the microsecond, which is what all databases store (B016).
pub async fn an_instant_is_utc_in_microseconds<H: Harness>(harness: &H) {
    let instants = [
        (
            "2026-01-01T00:00:00.123456789+05:45",
            "2025-12-31T18:15:00.123456Z",
        ),
        ("1969-07-20T20:17:40.000000999Z", "1969-07-20T20:17:40Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        (
            "9999-12-31T23:59:59.999999999Z",
            "9999-12-31T23:59:59.999999Z",
        ),
        ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.5Z"),
        // The hour that comes twice in New York.
        ("2026-11-01T01:30:00-04:00", "2026-11-01T05:30:00Z"),
        ("2026-11-01T01:30:00-05:00", "2026-11-01T06:30:00Z"),
    ];
    for (given, _) in instants {
        let given: DateTime<Utc> = given.parse().unwrap();
        harness.emit(Thing::said("x").occurred_at(given)).await;
    }
    let rows = Actor::owner(harness).await.rows().await;
    let found = rows
        .iter()
        .map(|row| row.body.as_ref().unwrap().occurred_at);
    let stored = instants.map(|(_, stored)| stored.parse::<DateTime<Utc>>().unwrap());
    assert_eq!(found.collect::<Vec<_>>(), stored);
}

/// What comes back is what was emitted; what the database does not take is told by the emit (B011).
pub async fn a_payload_of_any_length_comes_back_or_is_refused<H: Harness>(harness: &H) {
    let came_back = lengths_that_come_back(harness).await;
    assert!(came_back.starts_with(&LENGTHS[..2]), "{came_back:?}");
}

/// What columns, packets and limits end at elsewhere.
pub const LENGTHS: [usize; 4] = [65_535, 65_536, 1024 * 1024, 15 * 1024 * 1024];

/// The lengths of payloads that were taken, all of which came back.
pub async fn lengths_that_come_back<H: Harness>(harness: &H) -> Vec<usize> {
    const AROUND_THE_TEXT: usize = r#"{"key":"a","text":""}"#.len();
    let tables = harness.tables().unwrap();
    let mut limits = Limits::default();
    limits.payload_bytes = 16 * 1024 * 1024;
    let same = tables.beside().prefix(tables.outbox.names().prefix());
    let outbox = same.limits(limits).build().unwrap();
    let owner = Actor::owner(harness).await;
    let mut came_back = Vec::new();
    for length in LENGTHS {
        let text = "x".repeat(length - AROUND_THE_TEXT);
        let txn = tables.db.begin().await.unwrap();
        match outbox.emit(&txn, Thing::said(&text)).await {
            Ok(_) => txn.commit().await.unwrap(),
            Err(error) => {
                assert_eq!(error.kind(), EmitErrorKind::Database);
                continue;
            }
        }
        let row = owner.rows().await.remove(0);
        let read = owner.store.read(&[row.position], usize::MAX).await.unwrap();
        let payload = &read[0].body.as_ref().unwrap().payload;
        let found: Thing = serde_json::from_str(payload).unwrap();
        assert!(found.text == text, "{length}");
        owner.settle(&row, Verdict::Done).await;
        came_back.push(length);
    }
    came_back
}

/// An unordered event has a shard too, and no key.
pub async fn an_unordered_event_needs_no_key<H: Harness>(harness: &H) {
    let note = Noted {
        text: "hello".to_owned(),
    };
    let id = harness.emit(Draft::new(&note)).await;
    let row = Actor::owner(harness).await.rows().await.remove(0);
    assert_eq!((row.id, row.key, row.ordered), (id, None, false));
}

/// A body beyond the limit is read when it is needed.
pub async fn a_large_body_stays_behind<H: Harness>(harness: &H) {
    harness.emit(Thing::said(&"x".repeat(2000))).await;
    harness.emit(Thing::said("small")).await;
    let owner = Actor::owner(harness).await;
    let cursors = owner.cursors();
    let request = FetchRequest::new(owner.member.id, &cursors, 1000);
    let rows = owner.store.fetch(&request).await.unwrap().rows;
    assert!(rows[0].size > 2000 && rows[0].body.is_none());
    assert!(rows[1].size < 1000 && rows[1].body.is_some());
    assert_eq!(rows[0].fault, None);
    let read = owner
        .store
        .read(&[rows[0].position], usize::MAX)
        .await
        .unwrap();
    assert!(read[0].body.as_ref().unwrap().payload.len() > 2000);
    assert_eq!((read[0].id, read[0].size), (rows[0].id, rows[0].size));
}

/// However many events are named, a read brings no larger bodies than were asked for.
pub async fn a_read_leaves_large_bodies_behind_too<H: Harness>(harness: &H) {
    for text in [&*"x".repeat(2000), "small", &*"y".repeat(2000)] {
        harness.emit(Thing::said(text)).await;
    }
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    let positions: Vec<_> = rows.iter().map(|row| row.position).collect();
    let mut read = owner.store.read(&positions, 1000).await.unwrap();
    read.sort_by_key(|row| row.position);
    let whole: Vec<_> = read.iter().map(|row| row.body.is_some()).collect();
    assert_eq!(whole, [false, true, false]);
    for (read, row) in read.iter_mut().zip(&rows) {
        assert_eq!(read.fault, None);
        read.body.clone_from(&row.body);
    }
    assert_eq!(read, rows);
    let exists = owner.store.read(&positions, 0).await.unwrap();
    assert!(exists.len() == 3 && exists.iter().all(|row| row.body.is_none()));
}

/// A read returns what is there.
pub async fn what_is_gone_is_left_out_of_a_read<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    harness.emit(Thing::said("two")).await;
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    owner.settle(&rows[0], Verdict::Done).await;
    let positions = [rows[0].position, rows[1].position, rows[1].position + 100];
    let read = owner.store.read(&positions, usize::MAX).await.unwrap();
    assert_eq!(read, [rows[1].clone()]);
    assert_eq!(owner.store.read(&[], usize::MAX).await.unwrap(), []);
}

/// A row that is no event is reported, and its neighbours are delivered.
pub async fn what_cannot_be_read_is_the_fault_of_its_row<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    harness.emit(Thing::said("two")).await;
    let owner = Actor::owner(harness).await;
    let position = harness.pending().await[0].position;
    harness.corrupt(position).await;
    let rows = owner.rows().await;
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].position, rows[0].id), (position, Uuid::nil()));
    assert!(rows[0].fault.is_some());
    assert_eq!(rows[1].fault, None);
}

/// It does not stay for ever: under the id it was read with it can be given up.
pub async fn an_unreadable_event_can_still_become_a_dead_letter<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(harness).await;
    let position = harness.pending().await[0].position;
    harness.corrupt(position).await;
    let row = owner.rows().await.remove(0);
    let verdict = Verdict::Dead {
        reason: DeadReason::Rejected,
        error: row.fault.clone().unwrap(),
        blocks: true,
    };
    let settled = owner.settle(&row, verdict).await;
    assert_eq!(settled, Settled::Written { gone: vec![] });
    assert_eq!(owner.rows().await, []);
    assert_eq!(owner.store.blocked(&[row.shard]).await.unwrap().len(), 1);
}
