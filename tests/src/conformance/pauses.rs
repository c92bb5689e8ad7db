//! Operators pause topics for the whole fleet.

use super::{Actor, Harness, Thing, operators::operator};
use outbox_core::store::Store;

/// Everybody can read it, who has read a shard must read it anew, and it is recorded.
pub async fn a_paused_topic_is_known_to_all<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(harness).await;
    let before = owner.fetch().await.shards;
    assert_eq!(owner.store.paused().await.unwrap(), [] as [&str; 0]);
    let operator = operator(harness);
    assert!(
        operator
            .pause("thing.said", "the bank is down")
            .await
            .unwrap()
    );
    assert!(operator.pause("it's é", "odd").await.unwrap());
    let mut paused = owner.store.paused().await.unwrap();
    paused.sort();
    assert_eq!(paused, ["it's é", "thing.said"]);
    let after = owner.fetch().await.shards;
    for seen in &before {
        let now = after.iter().find(|now| now.shard == seen.shard).unwrap();
        assert_ne!(now.revision, seen.revision);
    }
    let listed = operator.paused().await.unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|paused| (&*paused.topic, &*paused.who, &*paused.why))
        .collect();
    let expected = [
        ("it's é", "alice", "odd"),
        ("thing.said", "alice", "the bank is down"),
    ];
    assert_eq!(listed, expected);
    let done = operator.operations(None).await.unwrap().items;
    assert_eq!(
        (&*done[1].act, done[1].topic.as_deref()),
        ("pause", Some("thing.said"))
    );
}

/// Nobody reads anything anew for it.
pub async fn pausing_twice_is_pausing_once<H: Harness>(harness: &H) {
    let owner = Actor::owner(harness).await;
    let operator = operator(harness);
    assert!(!operator.resume("a", "not paused").await.unwrap());
    assert!(operator.pause("a", "first").await.unwrap());
    let before = owner.fetch().await.shards;
    assert!(!operator.pause("a", "second").await.unwrap());
    assert_eq!(operator.paused().await.unwrap()[0].why, "first");
    assert_eq!(owner.fetch().await.shards, before);
    assert!(operator.resume("a", "over").await.unwrap());
    assert!(!operator.resume("a", "again").await.unwrap());
    assert_ne!(owner.fetch().await.shards, before);
    assert_eq!(owner.store.paused().await.unwrap(), [] as [&str; 0]);
    assert_eq!(operator.operations(None).await.unwrap().items.len(), 2);
}

/// Of several who pause at once, one has done it.
pub async fn of_two_that_pause_one_wins<H: Harness>(harness: &H) {
    let (first, second) = (operator(harness), operator(harness));
    let both = tokio::join!(first.pause("a", "first"), second.pause("a", "second"));
    assert_ne!(both.0.unwrap(), both.1.unwrap());
    assert_eq!(first.paused().await.unwrap().len(), 1);
}
