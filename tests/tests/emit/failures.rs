//! B041, B126: a database without the tables, or with older ones.

use crate::support::{count, insert_order, memory, placed, run};
use outbox_seaorm::{Emit, EmitErrorKind};
use sea_orm::{DbErr, TransactionTrait};
use std::{error::Error, time::Duration};

#[tokio::test]
async fn missing_tables_are_told_and_never_made() {
    let db = memory().await;
    for table in ["outbox_event", "outbox_delayed"] {
        run(&db, &format!("DROP TABLE {table}")).await;
    }
    let txn = db.begin().await.unwrap();
    insert_order(&txn, 1).await;
    let now = txn.emit(placed(1)).await.unwrap_err();
    let later = txn
        .emit(placed(1))
        .after(Duration::from_secs(1))
        .await
        .unwrap_err();
    for error in [now, later] {
        assert_eq!(error.kind(), EmitErrorKind::NotMigrated);
        assert!(error.source().unwrap().is::<DbErr>());
        assert!(DbErr::from(error).to_string().contains("no such table"));
    }
    txn.rollback().await.unwrap();
    assert_eq!(count(&db, "\"order\"").await, 0, "nothing committed early");
    assert_eq!(
        count(&db, "sqlite_master WHERE name = 'outbox_event'").await,
        0
    );
}

#[tokio::test]
async fn a_missing_column_is_told_as_well() {
    let db = memory().await;
    run(
        &db,
        "ALTER TABLE outbox_event RENAME COLUMN topic TO subject",
    )
    .await;
    let txn = db.begin().await.unwrap();
    let error = txn.emit(placed(1)).await.unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::NotMigrated, "{error:?}");
}

#[tokio::test]
async fn another_failure_of_the_database_keeps_its_error() {
    let db = memory().await;
    run(
        &db,
        "CREATE TRIGGER no BEFORE INSERT ON outbox_event BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    .await;
    let txn = db.begin().await.unwrap();
    let error = txn.emit(placed(1)).await.unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::Database);
    assert!(DbErr::from(error).to_string().contains("no"));
}
