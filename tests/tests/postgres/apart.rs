//! The heartbeat's connection.

use super::database::Database;
use outbox_core::store::{Liveness, Member, Store};
use outbox_seaorm::SeaOrmStore;
use sea_orm::TransactionTrait;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(600);

#[tokio::test]
async fn it_renews_while_the_pool_is_taken() {
    let database = Database::hostile().await;
    let pool = database.open_again(1).await;
    let narrow = SeaOrmStore::new(&pool, &database.outbox);
    let member = Member::new("here:1", "");
    narrow.join(&member, Duration::ZERO).await.unwrap();
    assert!(!narrow.in_process().await.unwrap());
    // The pool of one connection has none left, and the other has the same settings.
    let _held = pool.begin().await.unwrap();
    let apart = narrow.connect_apart().await.unwrap();
    assert!(apart.renew(member.id, LEASE).await.unwrap());
    let members = database.store().members().await.unwrap();
    assert_eq!(members[0].liveness, Liveness::Alive);
}

#[tokio::test]
async fn it_finds_the_tables_by_the_search_path_of_the_pool() {
    let database = Database::plain().await;
    let apart = database.store().connect_apart().await.unwrap();
    assert_eq!(apart.shards().await.unwrap().len(), 64);
}
