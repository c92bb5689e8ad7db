//! Calls of a database that may never answer: a connection can be dead without anybody being told.
//!
//! None of them is dropped midway. Who has waited for long enough leaves it behind in its task.

use crate::store::{Member, Store, StoreError, StoreErrorKind};
use std::{error::Error, future::Future, time::Duration};
use tokio::{
    sync::oneshot,
    time::{error::Elapsed, timeout},
};

/// Waits for a call, but not for ever.
pub(crate) async fn within<T: Send + 'static>(
    limit: Duration,
    context: &'static str,
    call: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    answered(context, timeout(limit, tokio::spawn(call)).await)
}

/// Joins, but does not wait for ever; a row that is written later is taken back.
pub(crate) async fn join<S: Store>(
    store: &S,
    member: &Member,
    (lease, limit): (Duration, Duration),
) -> Result<(), StoreError> {
    let (answer, joined) = oneshot::channel();
    let (store, member) = (store.clone(), member.clone());
    tokio::spawn(async move {
        let joined = store.join(&member, lease).await;
        if let Err(Ok(())) = answer.send(joined) {
            // Should that fail, its lease runs out.
            let _ = store.leave(member.id).await;
        }
    });
    answered("joining", timeout(limit, joined).await)
}

/// An answer that may not have come, or never will as its task is gone.
fn answered<T, E: Error + Send + Sync + 'static>(
    context: &'static str,
    answer: Result<Result<Result<T, StoreError>, E>, Elapsed>,
) -> Result<T, StoreError> {
    let unavailable = StoreErrorKind::Unavailable;
    match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(gone)) => Err(StoreError::new(unavailable, context, gone)),
        Err(elapsed) => Err(StoreError::new(unavailable, context, elapsed)),
    }
}
