use super::EventOutcome;
use crate::{
    dispatcher::Witness,
    store::{
        Blocked, Body, Claim, DeadReason, Delivered, Ear, FetchRequest, Fetched, History, Kept,
        Member, MemberId, MemberView, Moved, Outcomes as Batch, Owned, Position, Row, Settled,
        Settlement, Shard, ShardView, Store, StoreError, Verdict,
    },
    wake::Wake,
};
use chrono::DateTime;
use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Any store, whose settled outcomes are kept.
#[derive(Debug, Clone)]
pub(super) struct Observed<S> {
    store: S,
    outcomes: Outcomes,
}

/// What was settled.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcomes(Arc<Mutex<Log>>);

#[derive(Debug, Default)]
struct Log {
    /// What was read, to know the events by their positions.
    rows: HashMap<Position, Row>,
    settled: Vec<EventOutcome>,
}

impl<S> Observed<S> {
    pub(super) fn new(store: S, outcomes: &Outcomes) -> Self {
        Self {
            store,
            outcomes: outcomes.clone(),
        }
    }
}

impl Outcomes {
    pub(super) fn take(&self) -> Vec<EventOutcome> {
        std::mem::take(&mut self.lock().settled)
    }

    fn read(&self, rows: &[Row]) {
        let mut log = self.lock();
        for row in rows {
            let known = log.rows.entry(row.position).or_insert_with(|| row.clone());
            let body = known.body.take().or_else(|| row.body.clone());
            *known = Row {
                body,
                ..row.clone()
            };
        }
    }

    fn settled(&self, batches: &[Batch], answers: &[Settled]) {
        let mut log = self.lock();
        for (batch, answer) in batches.iter().zip(answers) {
            for settlement in &batch.settlements {
                if is_written(settlement, answer)
                    && let Some(row) = log.rows.get(&settlement.position).cloned()
                {
                    log.settled.push(outcome(row, settlement.verdict.clone()));
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a handler's transaction completes does not go through the store.
impl Witness for Outcomes {
    fn completed(&self, claim: &Claim) {
        let mut log = self.lock();
        if let Some(row) = log.rows.get(&claim.position).cloned() {
            log.settled.push(outcome(row, Verdict::Done));
        }
    }
}

fn is_written(settlement: &Settlement, answer: &Settled) -> bool {
    match answer {
        Settled::Written { gone } => !gone.contains(&settlement.position),
        Settled::Lost => false,
    }
}

fn outcome(mut row: Row, verdict: Verdict) -> EventOutcome {
    // Only what is given up without having been started may have none.
    let none = || Body::new(String::new(), "{}".to_owned(), DateTime::UNIX_EPOCH);
    let body = row.body.take().unwrap_or_else(none);
    let event = row.into_envelope(body);
    let attempts = match &verdict {
        Verdict::Retry { attempts, .. } => *attempts,
        Verdict::Dead {
            reason: DeadReason::Crashed,
            ..
        } => event.attempts,
        Verdict::Done | Verdict::Dead { .. } => event.attempts.saturating_add(1),
    };
    EventOutcome {
        event,
        attempts,
        verdict,
        at: Duration::ZERO,
    }
}

impl<S: Store> Store for Observed<S> {
    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, StoreError> {
        let fetched = self.store.fetch(request).await?;
        self.outcomes.read(&fetched.rows);
        Ok(fetched)
    }

    async fn read(
        &self,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let rows = self.store.read(positions, inline_bytes).await?;
        self.outcomes.read(&rows);
        Ok(rows)
    }

    fn settles_at_once(&self) -> NonZeroUsize {
        self.store.settles_at_once()
    }

    async fn settle(
        &self,
        member: MemberId,
        outcomes: &[Batch],
        history: History,
    ) -> Result<Vec<Settled>, StoreError> {
        let settled = self.store.settle(member, outcomes, history).await?;
        self.outcomes.settled(outcomes, &settled);
        Ok(settled)
    }

    async fn connect_apart(&self) -> Result<Self, StoreError> {
        let store = self.store.connect_apart().await?;
        Ok(Self::new(store, &self.outcomes))
    }

    // The others are the store's own --------------------------------------------------------------

    async fn check(&self) -> Result<(), StoreError> {
        self.store.check().await
    }

    async fn in_process(&self) -> Result<bool, StoreError> {
        self.store.in_process().await
    }

    fn let_go(&self) {
        self.store.let_go();
    }

    fn wake(&self) -> Wake {
        self.store.wake()
    }

    async fn listen(&self, ear: &Ear, stop: &CancellationToken) {
        self.store.listen(ear, stop).await;
    }

    async fn join(&self, member: &Member, lease: Duration) -> Result<(), StoreError> {
        self.store.join(member, lease).await
    }

    async fn renew(&self, member: MemberId, lease: Duration) -> Result<bool, StoreError> {
        self.store.renew(member, lease).await
    }

    async fn set_sleeping(&self, member: MemberId, sleeping: bool) -> Result<(), StoreError> {
        self.store.set_sleeping(member, sleeping).await
    }

    async fn members(&self) -> Result<Vec<MemberView>, StoreError> {
        self.store.members().await
    }

    async fn evict(&self, seen: &MemberView) -> Result<bool, StoreError> {
        self.store.evict(seen).await
    }

    async fn leave(&self, member: MemberId) -> Result<(), StoreError> {
        self.store.leave(member).await
    }

    async fn shards(&self) -> Result<Vec<ShardView>, StoreError> {
        self.store.shards().await
    }

    async fn take(&self, member: MemberId, seen: &[ShardView]) -> Result<Vec<Owned>, StoreError> {
        self.store.take(member, seen).await
    }

    async fn release(&self, member: MemberId, owned: &[Owned]) -> Result<(), StoreError> {
        self.store.release(member, owned).await
    }

    async fn blocked(&self, shards: &[Shard]) -> Result<Vec<Blocked>, StoreError> {
        self.store.blocked(shards).await
    }

    async fn paused(&self) -> Result<Vec<String>, StoreError> {
        self.store.paused().await
    }

    async fn move_due(
        &self,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, StoreError> {
        self.store.move_due(member, owned, limit).await
    }

    async fn mark_crashes(
        &self,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, StoreError> {
        self.store.mark_crashes(member, owned, marks).await
    }

    async fn prune(&self, kept: Kept, age: Duration, limit: usize) -> Result<usize, StoreError> {
        self.store.prune(kept, age, limit).await
    }

    async fn expired(&self, age: Duration, limit: usize) -> Result<Vec<Delivered>, StoreError> {
        self.store.expired(age, limit).await
    }

    async fn forget(&self, events: &[(Position, Uuid)]) -> Result<usize, StoreError> {
        self.store.forget(events).await
    }
}
