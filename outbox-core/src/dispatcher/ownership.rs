use super::{config::Config, desk::Desk, lease::LeaseWatch, membership::Observer};
use crate::store::{MemberId, Owned, Shard, ShardView, Store, StoreError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Keeps this dispatcher's share of the shards: evicts who is gone, takes what is free, and hands
/// over what is too much.
pub(crate) struct Ownership<'a, S> {
    desk: &'a Desk,
    store: &'a S,
    config: &'a Config,
    member: MemberId,
    lease: &'a LeaseWatch,
    /// Set when the lease or a shard is lost.
    lost: &'a CancellationToken,
    observer: Observer,
    next_look: Instant,
    /// When to ask next whether shards have become free.
    next_glance: Instant,
    /// How many shards there are.
    shards: usize,
    /// How many shards nobody held that were left to others.
    left: usize,
    standing_by: bool,
}

impl<'a, S: Store> Ownership<'a, S> {
    pub(crate) fn new(
        desk: &'a Desk,
        (store, config): (&'a S, &'a Config),
        member: MemberId,
        lease: &'a LeaseWatch,
        lost: &'a CancellationToken,
    ) -> Self {
        Self {
            desk,
            store,
            config,
            member,
            lease,
            lost,
            observer: Observer::default(),
            next_look: Instant::now(),
            next_glance: Instant::now(),
            shards: 0,
            left: 0,
            standing_by: false,
        }
    }

    /// When to look next.
    pub(crate) fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Whether it is time to look: also when there are more free shards than were left to others.
    /// Whoever stops gives up its shards, and they are not to lie until the next look by the clock.
    pub(crate) async fn is_look_due(&mut self) -> Result<bool, StoreError> {
        let now = Instant::now();
        if now >= self.next_look {
            return Ok(true);
        }
        if now < self.next_glance {
            return Ok(false);
        }
        // Once a poll, as pauses are up to a quarter shorter than that.
        self.next_glance = now + self.config.poll.1.mul_f64(0.75);
        // Where everything is ours nothing becomes free.
        if self.desk.schedule().owned().len() >= self.shards {
            return Ok(false);
        }
        let free = free(&self.store.shards().await?);
        let more = free > self.left;
        self.left = self.left.min(free);
        Ok(more)
    }

    /// Looks who is alive, and brings what is owned to what should be.
    pub(crate) async fn look(&mut self) -> Result<(), StoreError> {
        let third = self.config.lease / 3;
        let wait = third + Duration::from_secs(1);
        self.release_drained().await?;
        let members = self.store.members().await?;
        let now = Instant::now();
        let renewed_at = self.lease.renewed_at().unwrap_or(now);
        for gone in self.observer.gone(&members, now, renewed_at, wait) {
            if self.store.evict(&gone).await? {
                warn!(member = %gone.id, "a dispatcher is gone: its shards are free");
            }
        }
        let shards = self.store.shards().await?;
        self.release_strays(&shards).await?;
        let patience = third * 2;
        let plan = self
            .observer
            .plan(self.member, &members, &shards, now, patience);
        self.shards = shards.len();
        self.left = free(&shards).saturating_sub(plan.take.len());
        self.desk.schedule().drain(&plan.surplus);
        if !plan.take.is_empty() {
            let owned = self.store.take(self.member, &plan.take).await?;
            self.begin(owned);
        }
        self.tell_standing_by();
        self.next_look = now + third;
        if let Some(look) = self.observer.next_look(wait) {
            self.next_look = self.next_look.min(look.max(now + third / 10));
        }
        if !plan.surplus.is_empty() {
            self.next_look = self.next_look.min(now + third / 10);
        }
        Ok(())
    }

    /// What operators and dead letters hold back in shards that are about to be read from their
    /// start. Without knowing it nothing of them may be read: everything is given up rather than
    /// left lying.
    pub(crate) async fn hold_back(&self, shards: &[Shard]) -> Result<(), StoreError> {
        let paused = self.store.paused().await;
        let blocked = match &paused {
            Ok(_) => self.store.blocked(shards).await,
            Err(_) => Ok(Vec::new()),
        };
        if paused.is_err() || blocked.is_err() {
            self.lost.cancel();
        }
        let (paused, blocked) = (paused?, blocked?);
        let mut schedule = self.desk.schedule();
        schedule.pause(paused);
        schedule.block(blocked);
        Ok(())
    }

    /// Starts on shards that were won. The first fetch only tells their revisions: what holds back
    /// is read after it, so that no change in between stays unseen.
    fn begin(&self, owned: Vec<Owned>) {
        if owned.is_empty() {
            return;
        }
        info!(shards = owned.len(), "delivering");
        let mut schedule = self.desk.schedule();
        for owned in owned {
            schedule.own(owned);
        }
    }

    /// Gives up shards that were to be handed over, once nothing of them is in work or unwritten.
    async fn release_drained(&self) -> Result<(), StoreError> {
        let drained = self.desk.schedule().drained();
        if drained.is_empty() {
            return Ok(());
        }
        self.store.release(self.member, &drained).await?;
        info!(shards = drained.len(), "handed over");
        self.desk.schedule().disown(&drained);
        Ok(())
    }

    /// Gives up shards that are ours but not read: the answer to their taking was lost. They are
    /// taken anew at the next look.
    async fn release_strays(&self, shards: &[ShardView]) -> Result<(), StoreError> {
        let known = self.desk.schedule().owned();
        let strays: Vec<_> = shards
            .iter()
            .filter(|view| view.owner == Some(self.member))
            .filter(|view| known.iter().all(|owned| owned.shard != view.shard))
            .map(|view| Owned::new(view.shard, view.epoch, 0))
            .collect();
        if !strays.is_empty() {
            self.store.release(self.member, &strays).await?;
        }
        Ok(())
    }

    fn tell_standing_by(&mut self) {
        let standing_by = self.desk.schedule().owned().is_empty();
        if standing_by && !self.standing_by {
            info!("standing by: other dispatchers own everything, or their leases still run");
        }
        self.standing_by = standing_by;
    }
}

/// How many shards nobody holds.
fn free(shards: &[ShardView]) -> usize {
    shards.iter().filter(|view| !view.held).count()
}
