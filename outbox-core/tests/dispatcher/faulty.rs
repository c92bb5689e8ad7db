use outbox_core::{
    MemoryStore, Wake,
    store::{
        Blocked, Delivered, FetchRequest, Fetched, History, Kept, Member, MemberId, MemberView,
        Moved, Outcomes, Owned, Position, Row, Settled, Shard, ShardView, Store, StoreError,
        StoreErrorKind, Verdict,
    },
};
use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use uuid::Uuid;

/// A store whose verbs can be made to fail or to take their time.
#[derive(Clone)]
pub(crate) struct Faulty {
    inner: MemoryStore,
    fails: Arc<dyn Fn(&'static str) -> Option<StoreErrorKind> + Send + Sync>,
    /// Whether a verb hangs for now.
    pub(crate) hangs: Option<Arc<dyn Fn(&'static str) -> bool + Send + Sync>>,
    /// How long a settle takes.
    pub(crate) settling: Duration,
    /// Whether a fetch never comes back.
    pub(crate) stuck: Arc<AtomicBool>,
    /// The outcomes of events up to this position are refused.
    pub(crate) refused: Position,
    /// Dead letters find their places taken by older ones.
    pub(crate) buries_nothing: bool,
    /// How long a connection apart takes, if the database lives elsewhere.
    pub(crate) connecting: Option<Duration>,
    /// The most bytes of payloads that one answer has had.
    pub(crate) longest: Arc<AtomicUsize>,
}

impl Faulty {
    pub(crate) fn new(
        inner: &MemoryStore,
        fails: impl Fn(&'static str) -> Option<StoreErrorKind> + Send + Sync + 'static,
    ) -> Self {
        Self {
            inner: inner.clone(),
            fails: Arc::new(fails),
            hangs: None,
            settling: Duration::ZERO,
            stuck: Arc::default(),
            refused: 0,
            buries_nothing: false,
            connecting: None,
            longest: Arc::default(),
        }
    }

    fn weigh(&self, rows: &[Row]) {
        let bodies = rows.iter().filter_map(|row| row.body.as_ref());
        let bytes = bodies.map(|body| body.payload.len()).sum();
        self.longest.fetch_max(bytes, SeqCst);
    }

    async fn call(&self, verb: &'static str) -> Result<(), StoreError> {
        while self.hangs.as_ref().is_some_and(|hangs| hangs(verb)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        match (self.fails)(verb) {
            Some(kind) => Err(StoreError::new(kind, verb, "made to fail")),
            None => Ok(()),
        }
    }
}

impl Store for Faulty {
    async fn check(&self) -> Result<(), StoreError> {
        self.call("check").await?;
        self.inner.check().await
    }

    async fn in_process(&self) -> Result<bool, StoreError> {
        Ok(self.connecting.is_none() && self.inner.in_process().await?)
    }

    async fn connect_apart(&self) -> Result<Self, StoreError> {
        tokio::time::sleep(self.connecting.unwrap_or_default()).await;
        Ok(self.clone())
    }

    fn wake(&self) -> Wake {
        self.inner.wake()
    }

    async fn join(&self, member: &Member, lease: Duration) -> Result<(), StoreError> {
        self.call("join").await?;
        self.inner.join(member, lease).await
    }

    async fn renew(&self, member: MemberId, lease: Duration) -> Result<bool, StoreError> {
        self.call("renew").await?;
        self.inner.renew(member, lease).await
    }

    async fn members(&self) -> Result<Vec<MemberView>, StoreError> {
        self.call("members").await?;
        self.inner.members().await
    }

    async fn evict(&self, seen: &MemberView) -> Result<bool, StoreError> {
        self.call("evict").await?;
        self.inner.evict(seen).await
    }

    async fn leave(&self, member: MemberId) -> Result<(), StoreError> {
        self.call("leave").await?;
        self.inner.leave(member).await
    }

    async fn shards(&self) -> Result<Vec<ShardView>, StoreError> {
        self.call("shards").await?;
        self.inner.shards().await
    }

    async fn take(&self, member: MemberId, seen: &[ShardView]) -> Result<Vec<Owned>, StoreError> {
        self.call("take").await?;
        self.inner.take(member, seen).await
    }

    async fn release(&self, member: MemberId, owned: &[Owned]) -> Result<(), StoreError> {
        self.call("release").await?;
        self.inner.release(member, owned).await
    }

    async fn blocked(&self, shards: &[Shard]) -> Result<Vec<Blocked>, StoreError> {
        self.call("blocked").await?;
        self.inner.blocked(shards).await
    }

    async fn paused(&self) -> Result<Vec<String>, StoreError> {
        self.call("paused").await?;
        self.inner.paused().await
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, StoreError> {
        self.call("fetch").await?;
        if self.stuck.load(SeqCst) {
            std::future::pending::<()>().await;
        }
        let fetched = self.inner.fetch(request).await?;
        self.weigh(&fetched.rows);
        Ok(fetched)
    }

    async fn read(
        &self,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, StoreError> {
        self.call("read").await?;
        let mut rows = self.inner.read(positions, inline_bytes).await?;
        self.weigh(&rows);
        for row in &mut rows {
            if row.aggregate == "unreadable" && row.position == 1 {
                (row.body, row.fault) = (None, Some("made to be".to_owned()));
            }
        }
        Ok(rows)
    }

    fn settles_at_once(&self) -> NonZeroUsize {
        self.inner.settles_at_once()
    }

    async fn settle(
        &self,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, StoreError> {
        self.call("settle").await?;
        tokio::time::sleep(self.settling).await;
        let mut settlements = outcomes.iter().flat_map(|shard| &shard.settlements);
        if settlements.any(|outcome| outcome.position <= self.refused) {
            let kind = StoreErrorKind::Refused;
            return Err(StoreError::new(kind, "settling", "made to fail"));
        }
        let (mut left, mut dead) = (outcomes.to_vec(), Vec::new());
        for shard in left.iter_mut().filter(|_| self.buries_nothing) {
            shard.settlements.retain(|settlement| {
                let is_dead = matches!(settlement.verdict, Verdict::Dead { .. });
                dead.extend(is_dead.then_some(settlement.position));
                !is_dead
            });
        }
        let mut settled = self.inner.settle(member, &left, history).await?;
        if let Some(Settled::Written { gone }) = settled.first_mut() {
            gone.append(&mut dead);
        }
        Ok(settled)
    }

    async fn move_due(
        &self,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, StoreError> {
        self.call("move_due").await?;
        self.inner.move_due(member, owned, limit).await
    }

    async fn mark_crashes(
        &self,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, StoreError> {
        self.call("mark_crashes").await?;
        self.inner.mark_crashes(member, owned, marks).await
    }

    async fn prune(&self, kept: Kept, age: Duration, limit: usize) -> Result<usize, StoreError> {
        self.call("prune").await?;
        self.inner.prune(kept, age, limit).await
    }

    async fn expired(&self, age: Duration, limit: usize) -> Result<Vec<Delivered>, StoreError> {
        self.call("expired").await?;
        self.inner.expired(age, limit).await
    }

    async fn forget(&self, events: &[(Position, Uuid)]) -> Result<usize, StoreError> {
        self.call("forget").await?;
        self.inner.forget(events).await
    }
}
