//! The heartbeat's connection.

use super::database::Database;
use outbox_core::store::{Liveness, Member, Store};
use outbox_seaorm::SeaOrmStore;
use sea_orm::TransactionTrait;
use std::time::Duration;

#[tokio::test]
async fn it_renews_while_the_pool_is_taken() {
    let database = Database::fresh().await;
    let narrow = database.open(1, "SET @first = 1").await;
    let store = SeaOrmStore::from(&narrow);
    let member = Member::new("here:1", "");
    store.join(&member, Duration::ZERO).await.unwrap();
    let _held = narrow.begin().await.unwrap();
    let apart = store.connect_apart().await.unwrap();
    assert!(!store.in_process().await.unwrap());
    let lease = Duration::from_secs(600);
    assert!(apart.renew(member.id, lease).await.unwrap());
    let members = database.store().members().await.unwrap();
    assert_eq!(members[0].liveness, Liveness::Alive);
}
