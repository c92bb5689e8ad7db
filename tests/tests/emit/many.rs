//! B013, B014, B017: any number of events, in order, all or nothing.

use crate::support::{OrderEvent, count, keys, memory, noted, placed, rows, run};
use chrono::{DateTime, Utc};
use outbox_seaorm::{
    Draft, Emit,
    entity::{delayed, event},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, TransactionTrait};
use std::time::Duration;

#[tokio::test]
async fn any_number_keeps_its_order_and_its_ids() {
    for number in [0, 1, 2, 10_000, 100_000] {
        let db = memory().await;
        let txn = db.begin().await.unwrap();
        let ids = txn.emit_all((0..number).map(placed)).await.unwrap();
        txn.commit().await.unwrap();
        let rows = rows(&db).await;
        assert_eq!(rows.len(), number);
        assert_eq!(ids.len(), number);
        for (n, (row, id)) in rows.iter().zip(&ids).enumerate() {
            assert_eq!(row.aggregate_id.as_deref(), Some(&*n.to_string()));
            assert_eq!(row.id, id.id());
        }
        assert!(rows.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    }
}

#[tokio::test]
async fn ids_do_not_depend_on_positions() {
    let db = memory().await;
    run(
        &db,
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('outbox_event', 9223372036854775000)",
    )
    .await;
    let txn = db.begin().await.unwrap();
    let ids = txn.emit_all((0..500).map(placed)).await.unwrap();
    txn.commit().await.unwrap();
    for (n, id) in ids.into_iter().enumerate() {
        let row = event::Entity::find()
            .filter(event::Column::Id.eq(id.id()))
            .one(&db)
            .await;
        let payload = row.unwrap().unwrap().payload;
        assert_eq!(payload["order_id"], n.to_string());
    }
}

#[tokio::test]
async fn long_events_are_cut_into_statements_and_keep_their_order() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let events = (0..40).map(|n| noted(n, "x".repeat(100_000)));
    txn.emit_all(events).await.unwrap();
    txn.commit().await.unwrap();
    let expected: Vec<_> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(keys(&db).await, expected);
}

#[tokio::test]
async fn a_rollback_leaves_none() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    txn.emit_all((0..100_000).map(placed)).await.unwrap();
    txn.rollback().await.unwrap();
    assert_eq!(keys(&db).await.len(), 0);
}

#[tokio::test]
async fn options_are_for_the_events_that_do_not_set_them() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let then: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
    let ids = txn
        .emit_all([
            Draft::new(&placed(0)),
            Draft::new(&placed(1))
                .after(Duration::ZERO)
                .header("h", "own"),
            Draft::new(&placed(2)).occurred_at(then).at(then),
        ])
        .after(Duration::from_secs(60))
        .occurred_at(DateTime::UNIX_EPOCH)
        .header("h", "all")
        .await
        .unwrap();
    let ids: Vec<_> = ids.into_iter().map(|emitted| emitted.id()).collect();
    txn.commit().await.unwrap();

    let now = rows(&db).await;
    assert_eq!((now.len(), now[0].id), (1, ids[1]));
    assert_eq!(now[0].headers["h"], "own");
    assert_eq!(now[0].occurred_at.and_utc(), DateTime::UNIX_EPOCH);

    let later = delayed::Entity::find().all(&db).await.unwrap();
    let find = |id| later.iter().find(|row| row.id == id).unwrap();
    assert_eq!(find(ids[0]).headers["h"], "all");
    assert!(find(ids[0]).due_at > find(ids[0]).created_at + Duration::from_secs(59));
    assert_eq!(find(ids[2]).occurred_at.and_utc(), then);
    assert_eq!(find(ids[2]).due_at, then);
}

#[tokio::test]
async fn drafts_and_events_of_an_unordered_topic_need_no_key() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let mail = OrderEvent::Mailed {
        to: "a@example.com".to_owned(),
    };
    txn.emit_all(vec![mail; 3]).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(
        count(
            &db,
            "outbox_event WHERE aggregateid IS NULL AND NOT ordered"
        )
        .await,
        3
    );
}
