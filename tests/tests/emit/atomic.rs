//! B031, B032: an event is there if and only if its transaction commits.

use crate::support::{count, insert_order, keys, memory, placed};
use outbox_seaorm::Emit;
use sea_orm::{DatabaseTransaction, DbErr, TransactionError, TransactionTrait};

#[tokio::test]
async fn rollback_and_drop_leave_nothing() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    insert_order(&txn, 1).await;
    txn.emit(placed(1)).await.unwrap();
    txn.rollback().await.unwrap();

    let txn = db.begin().await.unwrap();
    insert_order(&txn, 1).await;
    txn.emit_all([placed(1), placed(2)]).await.unwrap();
    drop(txn);

    assert_eq!(keys(&db).await.len(), 0);
    assert_eq!(count(&db, "\"order\"").await, 0);
}

#[tokio::test]
async fn an_error_in_a_closure_leaves_nothing() {
    let db = memory().await;
    let failed = db
        .transaction_async(async |txn: &DatabaseTransaction| -> Result<(), DbErr> {
            txn.emit(placed(1)).await?;
            Err(DbErr::Custom("changed our mind".to_owned()))
        })
        .await;
    assert!(matches!(failed, Err(TransactionError::Transaction(_))));
    assert_eq!(keys(&db).await.len(), 0);
}

#[tokio::test]
async fn a_panic_leaves_nothing() {
    let db = memory().await;
    let task = tokio::spawn({
        let db = db.clone();
        async move {
            db.transaction_async(async |txn: &DatabaseTransaction| -> Result<(), DbErr> {
                txn.emit(placed(1)).await?;
                panic!("as the test wants")
            })
            .await
        }
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(keys(&db).await.len(), 0);
}

#[tokio::test]
async fn a_cancelled_transaction_leaves_nothing() {
    let db = memory().await;
    let task = tokio::spawn({
        let db = db.clone();
        async move {
            let txn = db.begin().await.unwrap();
            txn.emit(placed(1)).await.unwrap();
            std::future::pending::<()>().await;
        }
    });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(keys(&db).await.len(), 0);
}

#[tokio::test]
async fn an_emit_that_is_not_awaited_sends_nothing() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    drop(txn.emit(placed(1)));
    drop(txn.emit_all([placed(1)]));
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await.len(), 0);
}

#[tokio::test]
async fn a_savepoint_takes_its_own_events_along() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    txn.emit(placed("a")).await.unwrap();
    let inner = txn.begin().await.unwrap();
    inner.emit(placed("b")).await.unwrap();
    inner.rollback().await.unwrap();
    let inner = txn.begin().await.unwrap();
    inner.emit(placed("c")).await.unwrap();
    inner.commit().await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await, ["a", "c"]);

    let txn = db.begin().await.unwrap();
    let inner = txn.begin().await.unwrap();
    inner.emit(placed("d")).await.unwrap();
    inner.commit().await.unwrap();
    txn.rollback().await.unwrap();
    assert_eq!(keys(&db).await, ["a", "c"]);
}
