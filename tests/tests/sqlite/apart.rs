//! The heartbeat's connection.

use super::database::Database;
use outbox_core::store::{Liveness, Member, Store};
use sea_orm::TransactionTrait;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(600);

#[tokio::test]
async fn it_renews_while_the_pool_is_taken() {
    let database = Database::in_file().await;
    let narrow = outbox_seaorm::SeaOrmStore::from(&database.open_again().await);
    let member = Member::new("here:1", "");
    narrow.join(&member, Duration::ZERO).await.unwrap();
    let apart = narrow.connect_apart().await.unwrap();
    // The pool of one connection has none left.
    let pool = database.open_again().await;
    let _held = pool.begin().await.unwrap();
    assert!(!narrow.in_process().await.unwrap());
    assert!(apart.renew(member.id, LEASE).await.unwrap());
    let members = narrow.members().await.unwrap();
    assert_eq!(members[0].liveness, Liveness::Alive);
}

#[tokio::test]
async fn in_memory_there_is_only_the_pool() {
    let database = Database::in_memory().await;
    let store = database.store();
    assert!(store.in_process().await.unwrap());
    let apart = store.connect_apart().await.unwrap();
    assert_eq!(apart.shards().await.unwrap().len(), 1);
}
