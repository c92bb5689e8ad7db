//! In a memory database the lease is the process itself.

use super::database::Database;
use outbox_core::store::{Liveness, Member, Store};
use std::time::Duration;

async fn liveness(database: &Database) -> Vec<Liveness> {
    let members = database.store().members().await.unwrap();
    members.iter().map(|view| view.liveness).collect()
}

#[tokio::test]
async fn a_member_lives_as_long_as_the_store_it_joined_through() {
    let database = Database::in_memory().await;
    let store = database.store();
    let member = Member::new("here:1", "");
    store.join(&member, Duration::ZERO).await.unwrap();
    let clone = store.clone();
    drop(store);
    assert_eq!(liveness(&database).await, [Liveness::Alive]);
    drop(clone);
    assert_eq!(liveness(&database).await, [Liveness::Gone]);
}

#[tokio::test]
async fn a_member_that_is_gone_can_be_evicted() {
    let database = Database::in_memory().await;
    let gone = database.store();
    let member = Member::new("here:1", "");
    gone.join(&member, Duration::from_secs(600)).await.unwrap();
    drop(gone);
    let store = database.store();
    let seen = store.members().await.unwrap().remove(0);
    assert!(store.evict(&seen).await.unwrap());
    assert!(store.members().await.unwrap().is_empty());
}
