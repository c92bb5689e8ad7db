use super::Harness;
use outbox_core::store::{
    Cursor, FetchRequest, Fetched, History, Member, Moved, Outcomes, Owned, Row, Settled,
    Settlement, Shard, Store, StoreError, Verdict,
};
use std::time::Duration;

/// A dispatcher reduced to its verbs: a member, and the shards it owns.
#[derive(Debug, Clone)]
pub struct Actor<S> {
    /// Its store.
    pub store: S,
    /// Its registration.
    pub member: Member,
    /// The shards it took, at the epochs it took them at.
    pub owned: Vec<Owned>,
}

impl<S: Store> Actor<S> {
    /// Longer than any law takes.
    pub const LEASE: Duration = Duration::from_secs(600);

    /// One that has joined and owns nothing.
    pub async fn join<H: Harness<Store = S>>(harness: &H) -> Self {
        let store = harness.store();
        let member = Member::new("here:1", "thing.*");
        store.join(&member, Self::LEASE).await.unwrap();
        Self {
            store,
            member,
            owned: Vec::new(),
        }
    }

    /// One that has joined and taken every shard.
    pub async fn owner<H: Harness<Store = S>>(harness: &H) -> Self {
        let mut actor = Self::join(harness).await;
        actor.take().await;
        assert!(!actor.owned.is_empty(), "no shard was free");
        actor
    }

    /// Takes what it can; returns how many shards.
    pub async fn take(&mut self) -> usize {
        let seen = self.store.shards().await.unwrap();
        self.owned = self.store.take(self.member.id, &seen).await.unwrap();
        self.owned.len()
    }

    /// Gives up all shards, still remembering them.
    pub async fn release(&self) {
        self.store
            .release(self.member.id, &self.owned)
            .await
            .unwrap();
    }

    /// Evicts another, as if it had died.
    pub async fn evict(&self, other: &Self) {
        let members = self.store.members().await.unwrap();
        let seen = members.iter().find(|view| view.id == other.member.id);
        assert!(self.store.evict(seen.unwrap()).await.unwrap());
    }

    /// The ownership of a shard.
    pub fn of(&self, shard: Shard) -> Owned {
        let mut owned = self.owned.iter();
        *owned.find(|owned| owned.shard == shard).unwrap()
    }

    /// Cursors at the start of every shard.
    pub fn cursors(&self) -> Vec<Cursor> {
        let owned = self.owned.iter();
        owned
            .map(|owned| Cursor::new(owned.shard, owned.epoch, 1000))
            .collect()
    }

    /// Reads everything.
    pub async fn fetch(&self) -> Fetched {
        self.fetch_from(&self.cursors()).await
    }

    /// Reads from these cursors.
    pub async fn fetch_from(&self, cursors: &[Cursor]) -> Fetched {
        let request = FetchRequest::new(self.member.id, cursors, 10_000);
        self.store.fetch(&request).await.unwrap()
    }

    /// The events it reads.
    pub async fn rows(&self) -> Vec<Row> {
        self.fetch().await.rows
    }

    /// Settles one event, keeping the history.
    pub async fn settle(&self, row: &Row, verdict: Verdict) -> Settled {
        let outcome = Settlement::new(row.position, row.id, verdict);
        self.settle_all(row.shard, &[outcome]).await
    }

    /// Settles events of one shard, keeping the history.
    pub async fn settle_all(&self, shard: Shard, outcomes: &[Settlement]) -> Settled {
        self.try_settle(shard, outcomes, History::Keep)
            .await
            .unwrap()
    }

    /// Settles events of one shard.
    ///
    /// # Errors
    /// The store's.
    pub async fn try_settle(
        &self,
        shard: Shard,
        outcomes: &[Settlement],
        history: History,
    ) -> Result<Settled, StoreError> {
        let owned = self.of(shard);
        let member = self.member.id;
        let outcomes = [Outcomes::new(owned, outcomes.to_vec())];
        let mut settled = self.store.settle(member, &outcomes, history).await?;
        Ok(settled.remove(0))
    }

    /// Moves due events of all shards, up to `limit` a shard; how many, or `None` when one is lost.
    pub async fn move_due(&self, limit: usize) -> Option<usize> {
        let mut moved = 0;
        for owned in &self.owned {
            let member = self.member.id;
            match self.store.move_due(member, owned, limit).await.unwrap() {
                Moved::Events(events) => moved += events,
                Moved::Lost => return None,
            }
        }
        Some(moved)
    }
}
