use super::{By, Operation, OperatorStore, Page};
use crate::store::StoreError;
use std::sync::Arc;
use uuid::Uuid;

/// Decides what becomes of dead letters, and tells what is in an outbox. Cheap to clone.
///
/// Whoever uses it gives a name, and a reason for each change: both are recorded with it, and
/// [`operations`](Self::operations) lists them.
///
/// ```
/// use outbox_core::{MemoryStore, operator::{Answer, LetterFilter}};
///
/// type Operator = outbox_core::Operator<MemoryStore>;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let store = MemoryStore::new();
/// let operator = Operator::new(store, "alice");
/// let placed = LetterFilter::all().topic("order.placed");
/// let letters = operator.letters(&placed, 0).await?;
/// for letter in letters.items {
///     println!("{}: {} after {} attempts", letter.position, letter.error, letter.attempts);
///     if operator.retry(letter.position, "the bank is back").await? == Answer::TooLate {
///         println!("somebody else was quicker");
///     }
/// }
/// # Ok::<(), outbox_core::store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Operator<S> {
    pub(super) store: S,
    who: Arc<str>,
}

/// How many items a page has at most.
pub(super) const PAGE: usize = 100;

impl<S: OperatorStore> Operator<S> {
    /// An operator of this name over a store, or what a store is made of.
    pub fn new(store: impl Into<S>, who: impl Into<Arc<str>>) -> Self {
        Self {
            store: store.into(),
            who: who.into(),
        }
    }

    /// What operators did, the latest first; `before` is the `next` of the page before.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn operations(
        &self,
        before: Option<Uuid>,
    ) -> Result<Page<Operation, Uuid>, StoreError> {
        self.store.operations(before, PAGE).await
    }

    pub(super) fn by(&self, why: &str) -> By {
        By::new(&self.who, why)
    }
}
