//! What stands in the row.

use crate::support::{count, memory, noted, placed, rows};
use chrono::Utc;
use outbox_seaorm::{Context, Emit, Headers, Outbox, entity::delayed, headers};
use sea_orm::{EntityTrait, TransactionTrait};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_row_has_what_was_emitted() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let id = txn
        .emit(noted("ä🦀", "x"))
        .header("n", u64::MAX)
        .await
        .unwrap()
        .id();
    txn.commit().await.unwrap();
    let row = rows(&db).await.remove(0);
    assert_eq!(row.id, id);
    assert_eq!(row.aggregate_type, "order");
    assert_eq!(row.aggregate_id.as_deref(), Some("ä🦀"));
    assert_eq!(row.topic, "order.placed");
    assert_eq!(row.payload, json!({"order_id": "ä🦀", "note": "x"}));
    assert_eq!(row.headers, json!({"n": u64::MAX, "schema_version": 1}));
    assert!(row.ordered);
    assert_eq!((row.attempts, row.crashes), (0, 0));
    assert_eq!((row.retry_at, row.last_error), (None, None));
    let age = Utc::now() - row.created_at;
    assert!(age.num_seconds().abs() < 60, "{age}");
}

#[tokio::test]
async fn a_delay_counts_from_the_clock_of_the_database() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let delays = [
        Duration::from_nanos(1),
        Duration::from_millis(1_500),
        Duration::from_secs(100 * 365 * 24 * 60 * 60),
    ];
    for delay in delays {
        let id = txn.emit(placed(1)).after(delay).await.unwrap().id();
        let row = delayed::Entity::find_by_id(id)
            .one(&txn)
            .await
            .unwrap()
            .unwrap();
        let waits = (row.due_at - row.created_at).to_std().unwrap();
        assert!(waits >= delay, "{waits:?} is before {delay:?}");
        assert!(
            waits < delay + Duration::from_millis(50),
            "{waits:?} is long after {delay:?}"
        );
    }
    txn.commit().await.unwrap();
    assert_eq!(rows(&db).await.len(), 0);
    // What the database compares as text when it looks for due events.
    let due =
        "outbox_delayed WHERE due_at <= strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '+2 seconds')";
    assert_eq!(count(&db, due).await, 2);
}

#[tokio::test]
async fn due_times_compare_with_the_clock_of_the_database() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let now = Utc::now();
    let times = [
        now - Duration::from_secs(1),
        "1969-01-01T00:00:00Z".parse().unwrap(),
        now + Duration::from_secs(3600),
    ];
    for time in times {
        txn.emit(placed(1)).at(time).await.unwrap();
    }
    txn.commit().await.unwrap();
    let due = "outbox_delayed WHERE due_at <= strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')";
    assert_eq!(count(&db, due).await, 2);
}

#[tokio::test]
async fn headers_come_from_the_emit_then_the_scope_then_the_outbox() {
    let db = memory().await;
    let outbox = Outbox::builder()
        .header("service", "shop")
        .header(headers::TENANT_ID, "nobody")
        .header("own", "outbox")
        .build()
        .unwrap();
    let scope = Headers::from_iter([(headers::TENANT_ID, "acme"), ("own", "scope")]);
    Context::new(scope)
        .scope(async {
            let txn = db.begin().await.unwrap();
            outbox
                .emit(&txn, placed(1))
                .header("own", "emit")
                .await
                .unwrap();
            outbox.emit_all(&txn, [placed(2)]).await.unwrap();
            outbox.emit(&txn, placed(3)).dedupe_key("k").await.unwrap();
            let later = Duration::from_secs(60);
            outbox.emit(&txn, placed(4)).after(later).await.unwrap();
            txn.commit().await.unwrap();
        })
        .await;
    let rows = rows(&db).await;
    let common =
        |own| json!({"own": own, "schema_version": 1, "service": "shop", "tenant_id": "acme"});
    assert_eq!(rows[0].headers, common("emit"));
    assert_eq!(rows[1].headers, common("scope"));
    assert_eq!(rows[2].headers, common("scope"));
    let later = delayed::Entity::find().one(&db).await.unwrap();
    assert_eq!(later.unwrap().headers, common("scope"));
}
