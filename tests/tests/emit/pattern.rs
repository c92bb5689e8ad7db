//! The test to copy into an application: a business write that fails leaves no event.

use outbox_seaorm::{Emit, OutboxEvent, entity::event, schema};
use sea_orm::{
    ConnectionTrait, Database, DatabaseConnection, DbErr, EntityTrait, TransactionTrait,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "account")]
enum AccountEvent {
    Opened {
        #[outbox(key)]
        id: i64,
    },
    Credited {
        #[outbox(key)]
        id: i64,
        yen: i64,
    },
}

async fn open_account(db: &DatabaseConnection, id: i64) -> Result<(), DbErr> {
    let txn = db.begin().await?;
    txn.emit(AccountEvent::Opened { id }).await?;
    txn.emit(AccountEvent::Credited { id, yen: 500 }).await?;
    txn.execute_unprepared(&format!("INSERT INTO account (id) VALUES ({id})"))
        .await?;
    txn.commit().await
}

#[tokio::test]
async fn a_business_write_that_fails_leaves_no_event() {
    let db = Database::connect("sqlite::memory:").await.unwrap();
    schema::create(&db).await.unwrap();
    db.execute_unprepared("CREATE TABLE account (id INTEGER PRIMARY KEY)")
        .await
        .unwrap();

    open_account(&db, 1).await.unwrap();
    let before = event::Entity::find().all(&db).await.unwrap();
    assert_eq!(before.len(), 2);

    // The account exists already: the write after the second emit fails.
    open_account(&db, 1).await.unwrap_err();
    assert_eq!(event::Entity::find().all(&db).await.unwrap(), before);
}
