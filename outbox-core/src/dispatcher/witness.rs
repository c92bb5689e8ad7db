use crate::store::Claim;
use std::sync::Arc;

/// Told of what no settle writes: an event that its handler's transaction has completed. A test sees
/// by it what became of the event.
pub(crate) trait Witness: Send + Sync {
    fn completed(&self, claim: &Claim);
}

/// In production there is none.
pub(crate) type Witnesses = Option<Arc<dyn Witness>>;
