//! The lease is the existence of the member's row.

use super::{Actor, Harness, Thing};
use outbox_core::store::{Liveness, Member, MemberView, Store};
use sea_orm::DbBackend;
use std::time::Duration;

async fn find<S: Store>(store: &S, member: &Member) -> Option<MemberView> {
    let members = store.members().await.unwrap();
    members.into_iter().find(|view| view.id == member.id)
}

/// A member is seen by all, alive.
pub async fn one_that_joined_is_a_member<H: Harness>(harness: &H) {
    let (actor, other) = (Actor::join(harness).await, Actor::join(harness).await);
    let seen = find(&other.store, &actor.member).await.unwrap();
    assert_eq!(seen.liveness, Liveness::Alive);
    assert_eq!(other.store.members().await.unwrap().len(), 2);
}

/// Joining may be repeated after an error.
pub async fn joining_again_is_joining_once<H: Harness>(harness: &H) {
    let actor = Actor::join(harness).await;
    let lease = Duration::from_secs(700);
    actor.store.join(&actor.member, lease).await.unwrap();
    assert_eq!(actor.store.members().await.unwrap().len(), 1);
}

/// A lease that is not renewed is seen to be over; the row stays until it is evicted.
pub async fn a_lease_runs_out<H: Harness>(harness: &H) {
    let (store, member) = (harness.store(), Member::new("here:1", ""));
    let lease = Duration::from_millis(20);
    store.join(&member, lease).await.unwrap();
    harness.pass(Duration::from_millis(50)).await;
    let seen = find(&store, &member).await.unwrap();
    assert_eq!(seen.liveness, Liveness::Expired);
    assert!(store.renew(member.id, lease).await.unwrap());
}

/// A renewed lease runs on, and the row is another than the one seen before.
pub async fn renewing_extends_the_lease<H: Harness>(harness: &H) {
    let (store, member) = (harness.store(), Member::new("here:1", ""));
    store.join(&member, Duration::ZERO).await.unwrap();
    let before = find(&store, &member).await.unwrap();
    let lease = Duration::from_secs(600);
    assert!(store.renew(member.id, lease).await.unwrap());
    let after = find(&store, &member).await.unwrap();
    assert_eq!(before.liveness, Liveness::Expired);
    assert_eq!(after.liveness, Liveness::Alive);
    assert_ne!(before.lease_until, after.lease_until);
}

/// It is a word to whoever commits, and no more: it says nothing of the lease, and brings nobody back.
pub async fn saying_that_it_sleeps_changes_nothing_else<H: Harness>(harness: &H) {
    let (actor, gone) = (Actor::owner(harness).await, Actor::join(harness).await);
    gone.store.leave(gone.member.id).await.unwrap();
    let before = find(&actor.store, &actor.member).await.unwrap();
    for sleeping in [true, true, false, false, true] {
        for member in [actor.member.id, gone.member.id] {
            let said = actor.store.set_sleeping(member, sleeping);
            said.await.unwrap();
        }
        let members = actor.store.members().await.unwrap();
        assert_eq!(members, std::slice::from_ref(&before));
    }
    // Nor does it keep from what a member does.
    harness.emit(Thing::said("one")).await;
    assert_eq!(actor.rows().await.len(), 1);
    let lease = Actor::<H::Store>::LEASE;
    assert!(actor.store.renew(actor.member.id, lease).await.unwrap());
    actor.release().await;
}

/// A dead member would live for as long as the clock was turned back, and a living one renews
/// (interleaving 20).
pub async fn a_lease_from_the_future_is_over<H: Harness>(harness: &H) {
    let (dead, other) = (Actor::join(harness).await, Actor::join(harness).await);
    let tables = harness.tables().unwrap();
    tables.run(&moved(tables.backend(), 1)).await;
    let seen = find(&other.store, &dead.member).await.unwrap();
    assert_eq!(seen.liveness, Liveness::Expired);
    let (member, lease) = (other.member.id, Duration::from_secs(600));
    assert!(other.store.renew(member, lease).await.unwrap());
    let alive = find(&other.store, &other.member).await.unwrap();
    assert_eq!(alive.liveness, Liveness::Alive);
    // Joining anew is a renewal, too.
    dead.store.join(&dead.member, lease).await.unwrap();
    let back = find(&other.store, &dead.member).await.unwrap();
    assert_eq!(back.liveness, Liveness::Alive);
}

/// Moves all leases by this many hours, ahead of the clock or behind it.
pub(super) fn moved(backend: DbBackend, hours: i8) -> String {
    let later = |column| match backend {
        DbBackend::Postgres => format!("{column} + INTERVAL '{hours} hour'"),
        DbBackend::MySql => format!("{column} + INTERVAL {hours} HOUR"),
        _ => format!("strftime('%Y-%m-%dT%H:%M:%f+00:00', {column}, '{hours} hour')"),
    };
    let (until, renewed) = (later("lease_until"), later("renewed_at"));
    format!("UPDATE \"outbox_dispatcher\" SET lease_until = {until}, renewed_at = {renewed}")
}

/// A member whose row is gone cannot renew.
pub async fn renewing_after_an_eviction_says_so<H: Harness>(harness: &H) {
    let (late, other) = (Actor::join(harness).await, Actor::join(harness).await);
    other.evict(&late).await;
    let lease = Duration::from_secs(600);
    assert!(!late.store.renew(late.member.id, lease).await.unwrap());
    assert_eq!(find(&other.store, &late.member).await, None);
}

/// A member that renewed after it was looked at stays.
pub async fn a_member_that_renewed_is_not_evicted<H: Harness>(harness: &H) {
    let (late, other) = (Actor::join(harness).await, Actor::join(harness).await);
    let seen = find(&other.store, &late.member).await.unwrap();
    let lease = Duration::from_secs(700);
    assert!(late.store.renew(late.member.id, lease).await.unwrap());
    assert!(!other.store.evict(&seen).await.unwrap());
    assert!(late.store.renew(late.member.id, lease).await.unwrap());
}

/// Of two that evict the same member, one does.
pub async fn a_member_is_evicted_once<H: Harness>(harness: &H) {
    let (late, other) = (Actor::join(harness).await, Actor::join(harness).await);
    let seen = find(&other.store, &late.member).await.unwrap();
    assert!(other.store.evict(&seen).await.unwrap());
    assert!(!other.store.evict(&seen).await.unwrap());
}

/// After leaving, row and shards are free at once.
pub async fn leaving_gives_up_shards_and_row<H: Harness>(harness: &H) {
    let actor = Actor::owner(harness).await;
    actor.store.leave(actor.member.id).await.unwrap();
    assert_eq!(actor.store.members().await.unwrap(), []);
    let shards = actor.store.shards().await.unwrap();
    assert!(
        shards
            .iter()
            .all(|shard| shard.owner.is_none() && !shard.held)
    );
}

/// Leaving may be repeated after an error, and takes nothing from a successor.
pub async fn leaving_twice_is_leaving_once<H: Harness>(harness: &H) {
    let actor = Actor::owner(harness).await;
    actor.store.leave(actor.member.id).await.unwrap();
    let successor = Actor::owner(harness).await;
    actor.store.leave(actor.member.id).await.unwrap();
    let shards = successor.store.shards().await.unwrap();
    let owner = Some(successor.member.id);
    assert!(
        shards
            .iter()
            .all(|shard| shard.owner == owner && shard.held)
    );
}
