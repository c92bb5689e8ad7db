//! The entities read every table.

use super::database::Database;
use outbox_seaorm::{
    Emit,
    entity::{
        dead, delayed, delivered, event,
        status::{self, Status},
    },
};
use outbox_tests::conformance::Thing;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, TransactionTrait};
use std::time::Duration;

/// One event in every state.
async fn one_of_each() -> Database {
    let database = Database::fresh().await;
    let txn = database.db.begin().await.unwrap();
    let keys = ["pending", "retrying", "dead", "delivered"];
    txn.emit_all(keys.map(|key| Thing::of(key, "")))
        .await
        .unwrap();
    let scheduled = Thing::of("scheduled", "");
    txn.emit(scheduled)
        .after(Duration::from_secs(60))
        .await
        .unwrap();
    txn.commit().await.unwrap();
    let columns = "seq, id, aggregatetype, aggregateid, topic, payload, headers, occurred_at, \
                   ordered, attempts, created_at";
    for sql in [
        "UPDATE outbox_event SET attempts = 2, last_error = 'no', \
         retry_at = UTC_TIMESTAMP(6) + INTERVAL 5 SECOND WHERE aggregateid = 'retrying'"
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
        database.execute(&sql, []).await;
    }
    database
}

#[tokio::test]
async fn every_table_is_read() {
    let database = one_of_each().await;
    let db = &database.db;
    assert_eq!(event::Entity::find().all(db).await.unwrap().len(), 2);
    let delayed = delayed::Entity::find().one(db).await.unwrap().unwrap();
    assert!(delayed.due_at > database.now().await);
    let same = delayed::Entity::find_by_id(delayed.id)
        .one(db)
        .await
        .unwrap();
    assert_eq!(same, Some(delayed));
    let dead = dead::Entity::find().one(db).await.unwrap().unwrap();
    assert!(dead.blocks_aggregate && dead.ordered);
    assert_eq!((&*dead.reason, &*dead.last_error), ("attempts", "no"));
    let delivered = delivered::Entity::find().one(db).await.unwrap().unwrap();
    assert_eq!(delivered.payload["key"], "delivered");
    assert!(delivered.delivered_at >= delivered.created_at);
    let by_id = event::Column::Id.eq(delivered.id);
    assert_eq!(
        event::Entity::find().filter(by_id).count(db).await.unwrap(),
        0
    );
}

#[tokio::test]
async fn the_status_view_tells_every_state() {
    let database = one_of_each().await;
    // The words of the view compare on every connection.
    for first in [
        "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci",
        "SET @first = 1",
    ] {
        let db = database.open(1, first).await;
        let rows = status::Entity::find().all(&db).await.unwrap();
        for (key, status) in [
            ("pending", Status::Pending),
            ("retrying", Status::Retrying),
            ("scheduled", Status::Scheduled),
            ("dead", Status::Dead),
            ("delivered", Status::Delivered),
        ] {
            let mut rows = rows.iter();
            let row = rows
                .find(|row| row.aggregate_id.as_deref() == Some(key))
                .unwrap();
            assert_eq!(row.status, status);
            assert_eq!(row.sent_at.is_some(), status == Status::Delivered);
            assert_eq!(row.seq.is_some(), status != Status::Scheduled);
            let filter = status::Column::Status.eq(status);
            let one = status::Entity::find()
                .filter(filter)
                .one(&db)
                .await
                .unwrap();
            assert_eq!(one.unwrap().id, row.id);
        }
    }
}
