use super::{MemoryStore, PendingEvent};
use crate::store::Position;
use uuid::Uuid;

/// What an operator does; each change raises the shard's revision.
impl MemoryStore {
    /// Brings a dead letter back to its old position, to start over; `false` when there is none.
    pub fn requeue(&self, position: Position) -> bool {
        let mut state = self.state();
        let Some(letter) = state.dead.remove(&position) else {
            return false;
        };
        let pending = PendingEvent::back(letter.event);
        state.pending.insert(position, pending);
        state.revision += 1;
        drop(state);
        self.inner.wake.notify();
        true
    }

    /// Deletes a dead letter, so that its aggregate goes on without it; `false` when there is
    /// none.
    pub fn skip(&self, position: Position) -> bool {
        let mut state = self.state();
        let found = state.dead.remove(&position).is_some();
        state.revision += i64::from(found);
        drop(state);
        self.inner.wake.notify();
        found
    }

    /// Deletes an event that is still to be delivered, or is not due yet; `false` when there is
    /// none.
    pub fn discard(&self, id: Uuid) -> bool {
        let mut state = self.state();
        let before = state.pending.len() + state.delayed.len();
        state.pending.retain(|_, pending| pending.event.id != id);
        state.delayed.retain(|_, delayed| delayed.event.id != id);
        let found = state.pending.len() + state.delayed.len() < before;
        state.revision += i64::from(found);
        drop(state);
        self.inner.wake.notify();
        found
    }
}
