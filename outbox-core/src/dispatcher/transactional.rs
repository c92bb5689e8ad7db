//! A delivery that completes its own event: claim it, handle it, complete it. As long as it is not
//! known what became of the transaction there is no verdict.

use super::{
    answer::within,
    around::Around,
    failure::Failure,
    route::{Answer, CallInTransaction, guarded},
};
use crate::{
    envelope::Envelope,
    event::Topic,
    handler::{Delivery, HandlerError, TransactionalHandler},
    headers::Headers,
    store::{Claim, Completion, Room, StoreError, TransactionalStore},
};
use futures_util::future::BoxFuture;
use std::{error::Error, time::Duration};
use tokio::time::sleep;
use tracing::warn;

/// The transactional handler of one typed topic.
pub(crate) struct InTransaction<S, T, H> {
    pub(crate) store: S,
    /// The store's.
    pub(crate) room: Room,
    pub(crate) topic: Topic<T>,
    pub(crate) handler: H,
}

/// When its time is over a handler is dropped and its transaction rolled back: so much later the
/// database ends the transaction of a process that cannot do that.
const IDLE: Duration = Duration::from_secs(10);

/// For errors.
const CONTEXT: &str = "in a handler's transaction";

/// Between two looks at an event of whose transaction nobody knows what became.
const LOOK_PAUSE: Duration = Duration::from_millis(200);

impl<S, T, H> CallInTransaction for InTransaction<S, T, H>
where
    S: TransactionalStore,
    T: Send + 'static,
    H: TransactionalHandler<T, S::Transaction>,
{
    fn room(&self) -> Room {
        self.room
    }

    fn call<'a>(
        &'a self,
        envelope: Envelope,
        version: u32,
        headers: Headers,
        (claim, limit): (Claim, Duration),
        around: &'a Around,
    ) -> BoxFuture<'a, Answer> {
        let (delivery, payload) =
            Delivery::new(envelope, headers, claim.owned.epoch, around.state.clone());
        let claim = claim.idle_for(limit.saturating_add(IDLE));
        Box::pin(async move {
            let txn = match self.begin(&claim, around).await {
                Ok(Some(txn)) => txn,
                Ok(None) => return self.find(&claim, Answer::Gone, around).await,
                Err(error) => {
                    let error = &error as &dyn Error;
                    warn!(error, "cannot begin the handler's transaction");
                    return Answer::Busy;
                }
            };
            let limit = self.lease_allows(limit, around);
            let work = async {
                let decoded = self.topic.decode_version(version, &payload);
                let event = decoded.map_err(|error| Failure::undecodable(&error.into()))?;
                let context = delivery.context();
                let handled = self.handler.handle(event, delivery, &txn);
                Ok::<(), Failure>(context.scope(handled).await?)
            };
            let handled = guarded(limit, work).await;
            let answer = match handled.and_then(|handled| handled) {
                Ok(()) => self.complete(txn, claim, around).await,
                Err(failure) => match self.roll_back(txn, around).await {
                    Ok(()) => Answer::Failed(failure),
                    Err(_) => self.look(&claim, failure, around).await,
                },
            };
            if let (Answer::Completed, Some(witness)) = (&answer, &around.witness) {
                witness.completed(&claim);
            }
            answer
        })
    }
}

impl<S, T, H> InTransaction<S, T, H>
where
    S: TransactionalStore,
    T: Send + 'static,
    H: TransactionalHandler<T, S::Transaction>,
{
    /// Where no lease can be renewed while a transaction is open, it begins soon after a renewal.
    async fn begin(
        &self,
        claim: &Claim,
        around: &Around,
    ) -> Result<Option<S::Transaction>, StoreError> {
        let Some(lease_time) = around.lease_time.filter(|_| self.room.exclusive) else {
            return self.claim(claim, around).await;
        };
        let fresh = lease_time / 2;
        loop {
            around.lease.clone().renewed_within(fresh).await;
            let txn = self.claim(claim, around).await?;
            // It may have waited for the lock.
            match txn {
                Some(txn) if !around.lease.is_renewed_within(fresh) => {
                    self.roll_back(txn, around).await?;
                }
                txn => return Ok(txn),
            }
        }
    }

    /// How long a handler may take: so that the lease can be renewed in time after it.
    fn lease_allows(&self, limit: Duration, around: &Around) -> Duration {
        let lease_time = around.lease_time.filter(|_| self.room.exclusive);
        lease_time.map_or(limit, |lease_time| limit.min(lease_time / 3))
    }

    async fn complete(&self, txn: S::Transaction, claim: Claim, around: &Around) -> Answer {
        let (store, history) = (self.store.clone(), around.history);
        let complete = async move { store.complete(txn, &claim, history).await };
        match within(around.stall_limit, CONTEXT, complete).await {
            Ok(Completion::Written) => Answer::Completed,
            Ok(Completion::Lost) => Answer::Lost,
            Ok(Completion::Gone) => {
                let failure = Failure::code("the handler removed its own event from the outbox");
                self.look(&claim, failure, around).await
            }
            Err(error) => {
                warn!(
                    error = &error as &dyn Error,
                    "cannot complete the handler's transaction"
                );
                let failure = HandlerError::retry(error).into();
                self.look(&claim, failure, around).await
            }
        }
    }

    /// Finds out whether a transaction has committed that may have. Who claims the event anew knows
    /// that it has not, and that no other transaction holds it: nobody who writes a verdict must
    /// wait for one.
    async fn look(&self, claim: &Claim, failure: Failure, around: &Around) -> Answer {
        loop {
            match self.claim(claim, around).await {
                Ok(Some(txn)) => {
                    if self.roll_back(txn, around).await.is_ok() {
                        return Answer::Failed(failure);
                    }
                }
                Ok(None) => return self.find(claim, Answer::Completed, around).await,
                Err(error) => {
                    let error = &error as &dyn Error;
                    warn!(error, "looking what became of the handler's transaction");
                }
            }
            sleep(LOOK_PAUSE).await;
        }
    }

    /// Why an event could not be claimed: it is gone, or somebody else holds it.
    async fn find(&self, claim: &Claim, gone: Answer, around: &Around) -> Answer {
        let (store, position) = (self.store.clone(), claim.position);
        let read = async move { store.read(&[position], 0).await };
        match within(around.stall_limit, CONTEXT, read).await {
            Ok(rows) if rows.iter().all(|row| row.id != claim.id) => gone,
            // Without an answer it may be there.
            _ => Answer::Busy,
        }
    }

    // The worker may be dropped, a database call may not.

    async fn claim(
        &self,
        claim: &Claim,
        around: &Around,
    ) -> Result<Option<S::Transaction>, StoreError> {
        let (store, claim) = (self.store.clone(), *claim);
        let claim = async move { store.claim(&claim).await };
        within(around.stall_limit, CONTEXT, claim).await
    }

    async fn roll_back(&self, txn: S::Transaction, around: &Around) -> Result<(), StoreError> {
        let store = self.store.clone();
        let roll_back = async move { store.roll_back(txn).await };
        within(around.stall_limit, CONTEXT, roll_back).await
    }
}
