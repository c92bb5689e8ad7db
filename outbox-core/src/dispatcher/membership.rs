//! Who is gone, and which shards are whose: decisions without IO.

use crate::store::{Liveness, MemberId, MemberView, Shard, ShardView};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// After how many times as long as a shard was free others are asked again whether they want it: who
/// was slow may come for it now, and who is stuck has lost the lease.
const AGAIN: u32 = 10;

/// Watches the other members and the free shards over several looks.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    /// Members whose lease was over when they were first seen so.
    expired: HashMap<MemberId, Sighting>,
    /// Shards without an owner, and when that was first seen.
    free: HashMap<Shard, Instant>,
    /// Who was alive at the last look.
    alive: Vec<MemberId>,
    /// Shards beyond our share that nobody else came for while the same members were alive, and when
    /// we took them.
    unwanted: HashMap<Shard, Instant>,
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

    /// What to take and what to hand over: free shards up to our share and those that nobody took
    /// for `patience`; and whatever is beyond our share, as long as others may want it.
    pub(crate) fn plan(
        &mut self,
        me: MemberId,
        members: &[MemberView],
        shards: &[ShardView],
        now: Instant,
        patience: Duration,
    ) -> Plan {
        let mut alive: Vec<_> = live(me, members).map(|view| view.id).collect();
        alive.sort_unstable();
        if self.alive != alive {
            self.alive = alive;
            self.unwanted.clear();
        }
        self.free.retain(|shard, _| {
            let free = |view: &ShardView| view.shard == *shard && !view.held;
            shards.iter().any(free)
        });
        let mine = |view: &&ShardView| view.held && view.owner == Some(me);
        let owned = shards.iter().filter(mine).count();
        let share = share(me, members, shards.len());
        let mut plan = Plan::default();
        for view in shards.iter().filter(|view| !view.held) {
            let since = *self.free.entry(view.shard).or_insert(now);
            if owned + plan.take.len() < share {
                plan.take.push(*view);
            } else if now >= since + patience {
                // Whoever should have it does not come for it: not to be handed over again soon.
                self.unwanted.insert(view.shard, now);
                plan.take.push(*view);
            }
        }
        let wanted = shards
            .iter()
            .filter(mine)
            .map(|view| view.shard)
            .filter(|shard| {
                let taken = self.unwanted.get(shard);
                taken.is_none_or(|at| now >= *at + patience * AGAIN)
            });
        plan.surplus = wanted.take(owned.saturating_sub(share)).collect();
        plan
    }
}

/// What to do about the shards.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) take: Vec<ShardView>,
    pub(crate) surplus: Vec<Shard>,
}

fn live(me: MemberId, members: &[MemberView]) -> impl Iterator<Item = &MemberView> {
    members
        .iter()
        .filter(move |view| view.liveness == Liveness::Alive || view.id == me)
}

/// How many of `shards` belong to us: live members in the order of their ids share them evenly,
/// the first ones get one more where it does not come out even.
fn share(me: MemberId, members: &[MemberView], shards: usize) -> usize {
    let count = live(me, members).count().max(1);
    let rank = live(me, members).filter(|view| view.id < me).count();
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
    async fn what_nobody_takes_is_offered_again_later() {
        let (mut observer, start) = (Observer::default(), Instant::now());
        let members = [member(1, Liveness::Alive), member(2, Liveness::Alive)];
        let me = members[1].id;
        let mut plan = |shard, now| observer.plan(me, &members, &[shard], now, WAIT);
        assert_eq!(
            plan(free(0), start),
            Plan::default(),
            "the share of the other"
        );
        assert_eq!(plan(free(0), start + WAIT).take, [free(0)]);
        let taken = ShardView::new(0, 2, Some(me), true);
        assert_eq!(
            plan(taken, start + WAIT),
            Plan::default(),
            "not handed back and forth"
        );
        let later = start + WAIT * (AGAIN + 1);
        assert_eq!(plan(taken, later).surplus, [0], "who was slow is asked");
        let elder = [member(0, Liveness::Alive), members[1].clone()];
        let plan = observer.plan(me, &elder, &[taken], start + WAIT, WAIT);
        assert_eq!(plan.surplus, [0], "a new member may want it");
    }

    #[tokio::test]
    async fn a_newcomer_gets_its_share() {
        let (mut observer, now) = (Observer::default(), Instant::now());
        let members = [member(1, Liveness::Alive), member(2, Liveness::Alive)];
        let me = members[0].id;
        let all: Vec<_> = (0..5)
            .map(|shard| ShardView::new(shard, 1, Some(me), true))
            .collect();
        let plan = observer.plan(me, &members, &all, now, WAIT);
        assert_eq!((plan.take.len(), plan.surplus.len()), (0, 2));
    }
}
