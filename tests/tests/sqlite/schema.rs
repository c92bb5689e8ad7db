//! Tables that are not there.

use super::database::Database;
use outbox_core::store::{FetchRequest, Member, Store, StoreErrorKind};
use outbox_seaorm::{Outbox, SeaOrmStore};

#[tokio::test]
async fn a_missing_table_is_told_by_its_kind() {
    let database = Database::in_memory().await;
    let store = database.store();
    store.check().await.unwrap();
    database.execute("DROP TABLE outbox_delayed", []).await;
    let error = store.check().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
    let cursors = [outbox_core::store::Cursor::new(0, 1, 1)];
    let request = FetchRequest::new(Member::new("", "").id, &cursors, 0);
    let error = store.fetch(&request).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
}

#[tokio::test]
async fn a_missing_column_is_told_by_its_kind() {
    let database = Database::in_memory().await;
    let sql = "ALTER TABLE outbox_dispatcher RENAME COLUMN handles TO topics";
    database.execute(sql, []).await;
    let error = database.store().check().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
}

#[tokio::test]
async fn another_prefix_is_another_outbox() {
    let database = Database::in_memory().await;
    let outbox = Outbox::builder().prefix("billing_").build().unwrap();
    let store = SeaOrmStore::new(&database.db, &outbox);
    let error = store.check().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
}
