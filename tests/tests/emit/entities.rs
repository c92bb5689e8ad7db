//! The entities read every table.

use crate::support::{memory, placed, run};
use chrono::{DateTime, Utc};
use outbox_seaorm::{
    Emit,
    entity::{
        dead, delayed, delivered, event,
        status::{self, Status},
    },
};
use sea_orm::{
    ColumnTrait, DatabaseConnection, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    TransactionTrait,
};
use std::time::Duration;

/// One event in every state, written as the dispatcher does.
async fn one_of_each() -> DatabaseConnection {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    txn.emit_all([
        placed("pending"),
        placed("retrying"),
        placed("dead"),
        placed("delivered"),
    ])
    .await
    .unwrap();
    txn.emit(placed("scheduled"))
        .after(Duration::from_secs(60))
        .await
        .unwrap();
    txn.commit().await.unwrap();
    let columns = "seq, id, aggregatetype, aggregateid, topic, payload, headers, occurred_at, \
                   ordered, attempts, created_at";
    for sql in [
        "UPDATE outbox_event SET attempts = 2, last_error = 'no', \
         retry_at = strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '+5 seconds') \
         WHERE aggregateid = 'retrying'"
            .to_owned(),
        format!(
            "INSERT INTO outbox_dead ({columns}, last_error, reason, blocks_aggregate) \
             SELECT {columns}, 'no', 'attempts', TRUE FROM outbox_event WHERE aggregateid = 'dead'"
        ),
        format!(
            "INSERT INTO outbox_delivered ({columns}) \
             SELECT {columns} FROM outbox_event WHERE aggregateid = 'delivered'"
        ),
        "DELETE FROM outbox_event WHERE aggregateid IN ('dead', 'delivered')".to_owned(),
    ] {
        run(&db, &sql).await;
    }
    db
}

#[tokio::test]
async fn every_table_is_read() {
    let db = one_of_each().await;
    assert_eq!(event::Entity::find().count(&db).await.unwrap(), 2);
    let delayed = delayed::Entity::find().one(&db).await.unwrap().unwrap();
    assert!(delayed.due_at > Utc::now());
    let dead = dead::Entity::find().one(&db).await.unwrap().unwrap();
    assert!(dead.blocks_aggregate && dead.ordered);
    assert_eq!((&*dead.reason, &*dead.last_error), ("attempts", "no"));
    let delivered = delivered::Entity::find().one(&db).await.unwrap().unwrap();
    assert_eq!(delivered.payload["order_id"], "delivered");
    assert!(delivered.delivered_at >= delivered.created_at);
}

#[tokio::test]
async fn the_status_view_tells_every_state() {
    let db = one_of_each().await;
    let rows = status::Entity::find().all(&db).await.unwrap();
    let find = |key: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row.aggregate_id.as_deref() == Some(key))
            .unwrap()
    };
    for (key, status) in [
        ("pending", Status::Pending),
        ("retrying", Status::Retrying),
        ("scheduled", Status::Scheduled),
        ("dead", Status::Dead),
        ("delivered", Status::Delivered),
    ] {
        assert_eq!(find(key).status, status);
        assert_eq!(find(key).sent_at.is_some(), status == Status::Delivered);
        assert_eq!(find(key).seq.is_some(), status != Status::Scheduled);
    }
    assert!(find("retrying").next_attempt_at.unwrap() > Utc::now());
    assert!(find("scheduled").next_attempt_at.unwrap() > Utc::now());
    let dead = status::Entity::find().filter(status::Column::Status.eq(Status::Dead));
    assert_eq!(dead.count(&db).await.unwrap(), 1);
}

// The text that SeaORM binds for a time compares with the text that the database writes.
#[tokio::test]
async fn times_can_be_filtered_by() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    let then: DateTime<Utc> = "2026-01-01T12:00:00.5Z".parse().unwrap();
    txn.emit(placed("then")).occurred_at(then).await.unwrap();
    txn.emit(placed("now")).await.unwrap();
    txn.commit().await.unwrap();

    let now = Utc::now();
    for (since, expected) in [
        (now - Duration::from_secs(60), 2),
        (now + Duration::from_secs(60), 0),
    ] {
        let recent = event::Entity::find().filter(event::Column::CreatedAt.gt(since));
        assert_eq!(recent.count(&db).await.unwrap(), expected);
    }
    let until = |time: DateTime<Utc>| {
        event::Entity::find()
            .filter(event::Column::OccurredAt.lte(time.naive_utc()))
            .order_by_asc(event::Column::OccurredAt)
    };
    assert_eq!(until(then).count(&db).await.unwrap(), 1);
    assert_eq!(
        until(then - Duration::from_millis(1))
            .count(&db)
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        until(now + Duration::from_secs(60))
            .count(&db)
            .await
            .unwrap(),
        2
    );
}
