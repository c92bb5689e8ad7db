use super::{Call, Moment, Verb, Watched};
use outbox_core::{
    CancellationToken, Wake,
    store::{
        Blocked, Claim, Completion, Delivered, Ear, FetchRequest, Fetched, History, Kept, Member,
        MemberId, MemberView, Moved, Outcomes, Owned, Position, Room, Row, Settled, Shard,
        ShardView, Store, StoreError, TransactionalStore,
    },
};
use std::{future::Future, num::NonZeroUsize, time::Duration};
use uuid::Uuid;

impl<S: Store> Watched<S> {
    async fn call<T>(
        &self,
        verb: Verb,
        outcomes: &[Outcomes],
        answer: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let mut call = Call {
            verb,
            moment: Moment::Before,
            outcomes,
        };
        self.see(&call)?;
        if self.is_swallowed(verb) {
            std::future::pending().await
        }
        self.hold_at(verb, Moment::Before).await;
        let answer = answer.await?;
        call.moment = Moment::After;
        self.see(&call)?;
        self.hold_at(verb, Moment::After).await;
        Ok(answer)
    }

    async fn hold_at(&self, verb: Verb, moment: Moment) {
        let gate = self.watch.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.hold(verb, moment).await;
        }
    }
}

impl<S: Store> Store for Watched<S> {
    async fn check(&self) -> Result<(), StoreError> {
        self.call(Verb::Check, &[], self.store.check()).await
    }

    async fn in_process(&self) -> Result<bool, StoreError> {
        self.call(Verb::InProcess, &[], self.store.in_process())
            .await
    }

    async fn connect_apart(&self) -> Result<Self, StoreError> {
        let apart = self.store.connect_apart();
        let store = self.call(Verb::ConnectApart, &[], apart).await?;
        Ok(Self {
            store,
            ..self.clone()
        })
    }

    fn let_go(&self) {
        self.store.let_go();
    }

    fn wake(&self) -> Wake {
        self.wake.clone().unwrap_or_else(|| self.store.wake())
    }

    async fn listen(&self, ear: &Ear, stop: &CancellationToken) {
        let store = self.listens.as_ref().unwrap_or(&self.store);
        store.listen(ear, stop).await;
    }

    async fn set_sleeping(&self, member: MemberId, sleeping: bool) -> Result<(), StoreError> {
        let said = self.store.set_sleeping(member, sleeping);
        self.call(Verb::SetSleeping, &[], said).await
    }

    async fn join(&self, member: &Member, lease: Duration) -> Result<(), StoreError> {
        let join = self.store.join(member, lease);
        self.call(Verb::Join, &[], join).await
    }

    async fn renew(&self, member: MemberId, lease: Duration) -> Result<bool, StoreError> {
        let renew = self.store.renew(member, lease);
        self.call(Verb::Renew, &[], renew).await
    }

    async fn members(&self) -> Result<Vec<MemberView>, StoreError> {
        self.call(Verb::Members, &[], self.store.members()).await
    }

    async fn evict(&self, seen: &MemberView) -> Result<bool, StoreError> {
        self.call(Verb::Evict, &[], self.store.evict(seen)).await
    }

    async fn leave(&self, member: MemberId) -> Result<(), StoreError> {
        self.call(Verb::Leave, &[], self.store.leave(member)).await
    }

    async fn shards(&self) -> Result<Vec<ShardView>, StoreError> {
        self.call(Verb::Shards, &[], self.store.shards()).await
    }

    async fn take(&self, member: MemberId, seen: &[ShardView]) -> Result<Vec<Owned>, StoreError> {
        let take = self.store.take(member, seen);
        self.call(Verb::Take, &[], take).await
    }

    async fn release(&self, member: MemberId, owned: &[Owned]) -> Result<(), StoreError> {
        let release = self.store.release(member, owned);
        self.call(Verb::Release, &[], release).await
    }

    async fn blocked(&self, shards: &[Shard]) -> Result<Vec<Blocked>, StoreError> {
        let blocked = self.store.blocked(shards);
        self.call(Verb::Blocked, &[], blocked).await
    }

    async fn paused(&self) -> Result<Vec<String>, StoreError> {
        self.call(Verb::Paused, &[], self.store.paused()).await
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, StoreError> {
        let fetched = self.call(Verb::Fetch, &[], self.store.fetch(request));
        let mut fetched = fetched.await?;
        if let Some(horizon) = self.horizon {
            fetched.horizon = horizon;
        }
        Ok(fetched)
    }

    async fn read(
        &self,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let read = self.store.read(positions, inline_bytes);
        self.call(Verb::Read, &[], read).await
    }

    fn settles_at_once(&self) -> NonZeroUsize {
        self.store.settles_at_once()
    }

    async fn settle(
        &self,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, StoreError> {
        let settle = self.store.settle(member, outcomes, history);
        self.call(Verb::Settle, outcomes, settle).await
    }

    async fn move_due(
        &self,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, StoreError> {
        let moved = self.store.move_due(member, owned, limit);
        self.call(Verb::MoveDue, &[], moved).await
    }

    async fn mark_crashes(
        &self,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, StoreError> {
        let marked = self.store.mark_crashes(member, owned, marks);
        self.call(Verb::MarkCrashes, &[], marked).await
    }

    async fn prune(&self, kept: Kept, age: Duration, limit: usize) -> Result<usize, StoreError> {
        let prune = self.store.prune(kept, age, limit);
        self.call(Verb::Prune, &[], prune).await
    }

    async fn expired(&self, age: Duration, limit: usize) -> Result<Vec<Delivered>, StoreError> {
        let expired = self.store.expired(age, limit);
        self.call(Verb::Expired, &[], expired).await
    }

    async fn forget(&self, events: &[(Position, Uuid)]) -> Result<usize, StoreError> {
        self.call(Verb::Forget, &[], self.store.forget(events))
            .await
    }
}

impl<S: TransactionalStore> TransactionalStore for Watched<S> {
    type Transaction = S::Transaction;

    fn room(&self) -> Room {
        self.store.room()
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<S::Transaction>, StoreError> {
        self.call(Verb::Claim, &[], self.store.claim(claim)).await
    }

    async fn complete(
        &self,
        txn: S::Transaction,
        claim: &Claim,
        history: History,
    ) -> Result<Completion, StoreError> {
        let complete = self.store.complete(txn, claim, history);
        self.call(Verb::Complete, &[], complete).await
    }

    async fn roll_back(&self, txn: S::Transaction) -> Result<(), StoreError> {
        let roll_back = self.store.roll_back(txn);
        self.call(Verb::RollBack, &[], roll_back).await
    }
}
