//! Who is gone, and which shards are whose: decisions without IO.

use crate::store::{Liveness, MemberId, MemberView, Shard, ShardView};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Watches the other members and the free shards over several looks.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    /// Members whose lease was over when they were first seen so.
    expired: HashMap<MemberId, Sighting>,
    /// Shards without an owner, and when that was first seen.
    free: HashMap<Shard, Instant>,
}

#[derive(Debug)]
struct Sighting {
    lease_until: String,
    at: Instant,
}

impl Observer {
    /// The members to evict: known to be gone, or seen expired and unchanged at two looks at least
    /// `wait` apart, with a renewal of our own in between. After an outage or a jump of the clock
    /// everybody looks expired, and everybody deserves the chance to renew.
    pub(crate) fn gone(
        &mut self,
        members: &[MemberView],
        now: Instant,
        renewed_at: Instant,
        wait: Duration,
    ) -> Vec<MemberView> {
        let same = |view: &MemberView, sighting: &Sighting| {
            view.liveness == Liveness::Expired && view.lease_until == sighting.lease_until
        };
        self.expired.retain(|id, sighting| {
            members
                .iter()
                .any(|view| view.id == *id && same(view, sighting))
        });
        let mut gone = Vec::new();
        for view in members {
            match view.liveness {
                Liveness::Alive => {}
                Liveness::Gone => gone.push(view.clone()),
                Liveness::Expired => {
                    let sighting = self.expired.entry(view.id).or_insert_with(|| Sighting {
                        lease_until: view.lease_until.clone(),
                        at: now,
                    });
                    if now >= sighting.at + wait && renewed_at > sighting.at {
                        gone.push(view.clone());
                    }
                }
            }
        }
        gone
    }

    /// When the next look may decide something.
    pub(crate) fn next_look(&self, wait: Duration) -> Option<Instant> {
        self.expired
            .values()
            .map(|sighting| sighting.at + wait)
            .min()
    }

    /// The shards to take: free ones up to our share, and those that nobody took for `patience`.
    pub(crate) fn claimable(
        &mut self,
        me: MemberId,
        members: &[MemberView],
        shards: &[ShardView],
        now: Instant,
        patience: Duration,
    ) -> Vec<ShardView> {
        self.free
            .retain(|shard, _| shards.iter().any(|view| view.shard == *shard && !view.held));
        let owned = shards
            .iter()
            .filter(|view| view.held && view.owner == Some(me))
            .count();
        let missing = share(me, members, shards.len()).saturating_sub(owned);
        let mut taken = Vec::new();
        for view in shards.iter().filter(|view| !view.held) {
            let since = *self.free.entry(view.shard).or_insert(now);
            if taken.len() < missing || now >= since + patience {
                taken.push(*view);
            }
        }
        taken
    }
}

/// How many of `shards` belong to us: live members in the order of their ids share them evenly,
/// the first ones get one more where it does not come out even.
fn share(me: MemberId, members: &[MemberView], shards: usize) -> usize {
    let alive = || {
        members
            .iter()
            .filter(|view| view.liveness == Liveness::Alive || view.id == me)
    };
    let count = alive().count().max(1);
    let rank = alive().filter(|view| view.id < me).count();
    shards / count + usize::from(rank < shards % count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const WAIT: Duration = Duration::from_secs(4);

    fn member(id: u128, liveness: Liveness) -> MemberView {
        MemberView::new(Uuid::from_u128(id), "then", liveness)
    }

    fn free(shard: Shard) -> ShardView {
        ShardView::new(shard, 1, None, false)
    }

    #[tokio::test]
    async fn an_expired_member_gets_a_second_look() {
        let (mut observer, start) = (Observer::default(), Instant::now());
        let second = Duration::from_secs(1);
        let dead = [member(1, Liveness::Expired)];
        assert!(observer.gone(&dead, start, start, WAIT).is_empty());
        assert!(
            observer
                .gone(&dead, start + second, start + second, WAIT)
                .is_empty(),
            "too early"
        );
        assert!(
            observer.gone(&dead, start + WAIT, start, WAIT).is_empty(),
            "we did not renew"
        );
        assert_eq!(observer.next_look(WAIT), Some(start + WAIT));
        assert_eq!(
            observer.gone(&dead, start + WAIT, start + second, WAIT),
            dead
        );
    }

    #[tokio::test]
    async fn a_late_renewal_counts() {
        let (mut observer, start) = (Observer::default(), Instant::now());
        observer.gone(&[member(1, Liveness::Expired)], start, start, WAIT);
        let renewed = [MemberView::new(
            Uuid::from_u128(1),
            "later",
            Liveness::Expired,
        )];
        let at = start + WAIT;
        assert!(
            observer.gone(&renewed, at, at, WAIT).is_empty(),
            "expired anew"
        );
        assert!(
            observer
                .gone(&[member(1, Liveness::Alive)], at, at, WAIT)
                .is_empty()
        );
        assert_eq!(observer.next_look(WAIT), None);
    }

    #[tokio::test]
    async fn who_is_known_to_be_gone_is_evicted_at_once() {
        let now = Instant::now();
        let gone = [member(1, Liveness::Gone)];
        assert_eq!(Observer::default().gone(&gone, now, now, WAIT), gone);
    }

    #[test]
    fn shares_are_even_and_whole() {
        for count in 1..=70_u128 {
            let members: Vec<_> = (1..=count).map(|id| member(id, Liveness::Alive)).collect();
            let shares: Vec<_> = members
                .iter()
                .map(|view| share(view.id, &members, 64))
                .collect();
            assert_eq!(shares.iter().sum::<usize>(), 64);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }

    #[tokio::test]
    async fn what_nobody_takes_is_anybodys() {
        let (mut observer, start) = (Observer::default(), Instant::now());
        let members = [member(1, Liveness::Alive), member(2, Liveness::Alive)];
        let me = members[1].id;
        let mut take = |now| {
            observer
                .claimable(me, &members, &[free(0)], now, WAIT)
                .len()
        };
        assert_eq!(take(start), 0, "the share of the other");
        assert_eq!(take(start + WAIT), 1);
    }
}
