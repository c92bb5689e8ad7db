//! A shard is taken by compare-and-set; its epoch names the ownership.

use super::{Actor, Harness, Thing};
use outbox_core::store::{Member, Owned, Store};

/// Every shard can be had, and is seen as held then.
pub async fn a_free_shard_is_taken<H: Harness>(harness: &H) {
    let actor = Actor::owner(harness).await;
    let shards = actor.store.shards().await.unwrap();
    assert_eq!(actor.owned.len(), shards.len());
    for shard in shards {
        assert_eq!(shard.owner, Some(actor.member.id));
        assert_eq!(shard.epoch, actor.of(shard.shard).epoch);
        assert!(shard.held);
    }
}

/// Whoever has a row keeps its shards, also against one that has seen them.
pub async fn a_shard_of_a_living_owner_is_never_taken<H: Harness>(harness: &H) {
    let owner = Actor::owner(harness).await;
    let mut other = Actor::join(harness).await;
    assert_eq!(other.take().await, 0);
    // Also when it takes what is its own.
    assert_eq!(owner.clone().take().await, 0);
    assert_eq!(owner.fetch().await.shards.len(), owner.owned.len());
}

/// A shard whose owner has no row is free.
pub async fn a_shard_of_an_evicted_owner_is_taken<H: Harness>(harness: &H) {
    let dead = Actor::owner(harness).await;
    let mut heir = Actor::join(harness).await;
    heir.evict(&dead).await;
    let shards = heir.store.shards().await.unwrap();
    let owner = Some(dead.member.id);
    assert!(
        shards
            .iter()
            .all(|shard| shard.owner == owner && !shard.held)
    );
    assert_eq!(heir.take().await, dead.owned.len());
}

/// Two that saw the same free shards: each shard goes to one.
pub async fn of_two_that_saw_the_same_one_wins<H: Harness>(harness: &H) {
    let (first, second) = (Actor::join(harness).await, Actor::join(harness).await);
    let seen = first.store.shards().await.unwrap();
    let (one, two) = tokio::join!(
        first.store.take(first.member.id, &seen),
        second.store.take(second.member.id, &seen),
    );
    let won = [one.unwrap(), two.unwrap()].concat();
    let mut shards: Vec<_> = won.iter().map(|owned| owned.shard).collect();
    shards.sort_unstable();
    let mut expected: Vec<_> = seen.iter().map(|view| view.shard).collect();
    expected.sort_unstable();
    assert_eq!(shards, expected);
}

/// A shard that had another owner in between is another shard.
pub async fn an_old_view_takes_nothing<H: Harness>(harness: &H) {
    let late = Actor::join(harness).await;
    let seen = late.store.shards().await.unwrap();
    Actor::owner(harness).await.release().await;
    let won = late.store.take(late.member.id, &seen).await.unwrap();
    assert_eq!(won, []);
}

/// One that was evicted cannot take a shard before it has joined anew.
pub async fn one_that_is_no_member_takes_nothing<H: Harness>(harness: &H) {
    let (store, stranger) = (harness.store(), Member::new("here:1", ""));
    let seen = store.shards().await.unwrap();
    assert_eq!(store.take(stranger.id, &seen).await.unwrap(), []);
    let after = store.shards().await.unwrap();
    assert_eq!(seen, after);
}

/// No two ownerships of a shard have the same epoch.
pub async fn the_epoch_grows_with_every_owner<H: Harness>(harness: &H) {
    let first = Actor::owner(harness).await;
    first.release().await;
    let second = Actor::owner(harness).await;
    let third = Actor::join(harness).await;
    third.evict(&second).await;
    let third = Actor::owner(harness).await;
    for owned in &first.owned {
        let (second, third) = (second.of(owned.shard), third.of(owned.shard));
        assert!(owned.epoch < second.epoch && second.epoch < third.epoch);
    }
}

/// A dead owner may have had any event in work that was there.
pub async fn after_a_death_all_events_are_suspect<H: Harness>(harness: &H) {
    let dead = Actor::owner(harness).await;
    harness.emit(Thing::said("one")).await;
    harness.emit(Thing::said("two")).await;
    let last = harness.pending().await[1].position;
    Actor::join(harness).await.evict(&dead).await;
    let heir = Actor::owner(harness).await;
    harness.emit(Thing::said("three")).await;
    let shard = heir.rows().await[0].shard;
    assert_eq!(heir.of(shard).suspect_to, last);
}

/// One that gave up its shards had nothing in work.
pub async fn after_a_release_no_event_is_suspect<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    Actor::owner(harness).await.release().await;
    let released = Actor::owner(harness).await;
    assert!(released.owned.iter().all(|owned| owned.suspect_to == 0));
    released.store.leave(released.member.id).await.unwrap();
    let left = Actor::owner(harness).await;
    assert!(left.owned.iter().all(|owned| owned.suspect_to == 0));
}

/// A late release does not take the shard from its successor, nor from a later self.
pub async fn a_release_at_an_old_epoch_changes_nothing<H: Harness>(harness: &H) {
    let mut actor = Actor::owner(harness).await;
    let old = actor.owned.clone();
    actor.release().await;
    assert_eq!(actor.take().await, old.len());
    actor.store.release(actor.member.id, &old).await.unwrap();
    let wrong: Vec<_> = actor
        .owned
        .iter()
        .map(|owned| Owned::new(owned.shard, owned.epoch + 1, 0))
        .collect();
    actor.store.release(actor.member.id, &wrong).await.unwrap();
    assert_eq!(actor.fetch().await.shards.len(), actor.owned.len());
}
