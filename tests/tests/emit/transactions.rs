use crate::support::{file, insert_order, keys, memory, placed};
use outbox_seaorm::{Emit, EmitError, EmitErrorKind, InTransaction, Outbox};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseExecutor, DatabaseTransaction, DbErr,
    TransactionError, TransactionSession, TransactionTrait,
    rbac::{RbacEngine, RbacSnapshot, RbacUserId},
};
use std::{sync::Arc, time::Duration};

#[tokio::test]
async fn plain_and_nested() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    txn.emit(placed(1)).await.unwrap();
    let nested = txn.begin().await.unwrap();
    nested.emit(placed(2)).await.unwrap();
    nested.commit().await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await, ["1", "2"]);
}

#[tokio::test]
async fn inside_closures() {
    let db = memory().await;
    db.transaction::<_, _, DbErr>(|txn| {
        Box::pin(async move {
            txn.emit(placed(1)).await?;
            Ok(())
        })
    })
    .await
    .unwrap();
    let order = 2;
    db.transaction_async(async |txn: &DatabaseTransaction| -> Result<(), EmitError> {
        txn.emit_all([placed(order), placed(order + 1)]).await?;
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(keys(&db).await, ["1", "2", "3"]);
}

#[tokio::test]
async fn through_an_arc_from_many_tasks() {
    let db = memory().await;
    let txn = Arc::new(db.begin().await.unwrap());
    let tasks: Vec<_> = (0..20)
        .map(|n| {
            let txn = Arc::clone(&txn);
            tokio::spawn(async move { txn.emit(placed(n)).await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    Arc::into_inner(txn).unwrap().commit().await.unwrap();
    assert_eq!(keys(&db).await.len(), 20);
}

#[tokio::test]
async fn restricted() {
    let db = memory().await;
    db.replace_rbac(RbacEngine::from_snapshot(
        RbacSnapshot::danger_unrestricted(),
    ));
    let restricted = db.restricted_for(RbacUserId(0)).unwrap();
    let txn = restricted.begin().await.unwrap();
    txn.emit(placed(1)).await.unwrap();
    txn.emit(placed(2))
        .after(Duration::from_secs(1))
        .await
        .unwrap();
    for is_duplicate in [false, true] {
        let emitted = txn.emit(placed(3)).dedupe_key("3").await.unwrap();
        assert_eq!(emitted.is_duplicate(), is_duplicate);
    }
    TransactionSession::commit(txn).await.unwrap();
    assert_eq!(keys(&db).await, ["1", "3"]);
}

/// Generic code, as in a repository that knows no concrete transaction.
async fn generic<T: TransactionTrait>(db: &T) -> Result<(), DbErr> {
    let txn = db.begin().await?;
    txn.emit(placed(1)).await?;
    on_any_transaction(&txn).await?;
    txn.commit().await
}

async fn on_any_transaction<C: ConnectionTrait + InTransaction>(txn: &C) -> Result<(), EmitError> {
    txn.emit(placed(2)).header("n", 2).await?;
    Ok(())
}

#[tokio::test]
async fn generic_code_and_spawned_tasks() {
    let db = memory().await;
    let task = tokio::spawn({
        let db = db.clone();
        async move { generic(&db).await }
    });
    task.await.unwrap().unwrap();
    assert_eq!(keys(&db).await, ["1", "2"]);
}

#[tokio::test]
async fn an_executor_is_checked_when_it_runs() {
    let db = memory().await;
    let error = DatabaseExecutor::from(&db)
        .emit_checked(placed(1))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::NotInTransaction);
    assert_eq!(keys(&db).await.len(), 0);

    let txn = db.begin().await.unwrap();
    DatabaseExecutor::from(&txn)
        .emit_checked(placed(2))
        .await
        .unwrap();
    let outbox = Outbox::default();
    outbox
        .emit_checked(&DatabaseExecutor::from(&txn), placed(3))
        .await
        .unwrap();
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await, ["2", "3"]);
}

#[tokio::test]
async fn unchecked_commits_at_once_outside_a_transaction() {
    let db = memory().await;
    db.emit_unchecked(placed(1)).await.unwrap();
    assert_eq!(keys(&db).await, ["1"]);
}

// B036
#[tokio::test]
async fn one_connection_is_enough() {
    let mut options = ConnectOptions::new("sqlite::memory:");
    options
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(2));
    let db = Database::connect(options).await.unwrap();
    outbox_seaorm::schema::create(&db).await.unwrap();
    let txn = db.begin().await.unwrap();
    for n in 0..3 {
        txn.emit(placed(n)).await.unwrap();
    }
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await, ["0", "1", "2"]);
}

// B037: SQLite's default transaction cannot wait for another writer once it has read.
#[tokio::test]
async fn a_writer_in_the_way_is_contention() {
    let (_dir, db) = file(2).await;
    let reader = db.begin().await.unwrap();
    assert_eq!(keys(&reader).await.len(), 0);
    let writer = db.begin().await.unwrap();
    insert_order(&writer, 1).await;
    let error = reader.emit(placed(1)).await.unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::Contention);
    assert!(
        matches!(DbErr::from(error), DbErr::Exec(_) | DbErr::Query(_)),
        "the driver's error"
    );
    reader.rollback().await.unwrap();
    writer.rollback().await.unwrap();
}

#[tokio::test]
async fn an_emit_error_becomes_any_error_of_the_caller() {
    let db = memory().await;
    let failed = db
        .transaction::<_, (), DbErr>(|txn| {
            Box::pin(async move {
                txn.emit(placed("")).await?;
                Ok(())
            })
        })
        .await;
    let Err(TransactionError::Transaction(DbErr::Custom(text))) = failed else {
        panic!("{failed:?}")
    };
    assert!(text.contains("key"), "{text}");
}
