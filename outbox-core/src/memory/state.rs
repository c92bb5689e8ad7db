use super::{DeadLetter, DelayedEvent, PendingEvent, SHARD, clock};
use crate::{
    emit::{Due, NewEvent},
    envelope::Envelope,
    store::{Epoch, MemberId, Owned, Position, Verdict},
};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The tables.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The position given out last: none is used twice.
    last: Position,
    pub(super) pending: BTreeMap<Position, PendingEvent>,
    /// By due time, then id: the order in which they move.
    pub(super) delayed: BTreeMap<(DateTime<Utc>, Uuid), DelayedEvent>,
    pub(super) dead: BTreeMap<Position, DeadLetter>,
    /// In the order in which their outcomes were written.
    pub(super) delivered: Vec<Envelope>,
    /// The ends of the leases.
    pub(super) members: BTreeMap<MemberId, DateTime<Utc>>,
    pub(super) owner: Option<MemberId>,
    pub(super) epoch: Epoch,
    pub(super) revision: i64,
}

impl State {
    /// Writes an event that has been emitted.
    pub(super) fn insert(&mut self, now: DateTime<Utc>, event: NewEvent) {
        let due_at = match event.due {
            Due::Now => now,
            Due::After(delay) => clock::later(now, delay),
            Due::At(time) => time,
        };
        if due_at > now {
            let delayed = DelayedEvent { event, due_at };
            self.delayed.insert((due_at, delayed.event.id), delayed);
        } else {
            self.append(event);
        }
    }

    /// Whether the member owns the shard at this epoch.
    pub(super) fn fence(&self, member: MemberId, owned: &Owned) -> bool {
        owned.shard == SHARD && self.owner == Some(member) && self.epoch == owned.epoch
    }

    /// Whether the shard's owner has a member row.
    pub(super) fn held(&self) -> bool {
        self.owner
            .is_some_and(|owner| self.members.contains_key(&owner))
    }

    /// Where the last event stands that a former owner may have had in work.
    pub(super) fn last_pending(&self) -> Position {
        self.pending
            .last_key_value()
            .map_or(0, |(position, _)| *position)
    }

    /// The event of this position and id.
    pub(super) fn find(&mut self, position: Position, id: Uuid) -> Option<&mut PendingEvent> {
        self.pending
            .get_mut(&position)
            .filter(|pending| pending.event.id == id)
    }

    /// Takes an event out.
    pub(super) fn remove(&mut self, position: Position, id: Uuid) -> Option<PendingEvent> {
        self.find(position, id)?;
        self.pending.remove(&position)
    }

    /// Writes a retry or a dead letter; `false` when the event is gone.
    pub(super) fn fail(
        &mut self,
        now: DateTime<Utc>,
        position: Position,
        id: Uuid,
        verdict: &Verdict,
    ) -> bool {
        match verdict {
            Verdict::Done => true,
            Verdict::Retry {
                attempts,
                after,
                error,
            } => {
                let Some(pending) = self.find(position, id) else {
                    return false;
                };
                pending.event.attempts = *attempts;
                pending.crashes = 0;
                pending.retry_at = Some(clock::later(now, *after));
                pending.last_error = Some(error.clone());
                true
            }
            Verdict::Dead {
                reason,
                error,
                blocks,
            } => self
                .remove(position, id)
                .map(|pending| {
                    let mut event = pending.event;
                    if *reason != crate::store::DeadReason::Crashed {
                        event.attempts += 1;
                    }
                    let letter = DeadLetter {
                        event,
                        reason: *reason,
                        error: error.clone(),
                        blocks: *blocks,
                    };
                    self.dead.insert(position, letter);
                })
                .is_some(),
        }
    }

    /// Moves the delayed events that are due, `limit` at most; returns how many.
    pub(super) fn move_due(&mut self, now: DateTime<Utc>, limit: usize) -> usize {
        let mut moved = 0;
        while moved < limit
            && let Some(next) = self.delayed.first_entry()
            && next.key().0 <= now
        {
            let event = next.remove().event;
            self.append(event);
            moved += 1;
        }
        moved
    }

    fn append(&mut self, event: NewEvent) {
        self.last += 1;
        let pending = PendingEvent::at(self.last, event);
        self.pending.insert(self.last, pending);
    }
}
