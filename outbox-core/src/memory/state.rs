use super::{DeadLetter, DelayedEvent, PendingEvent, SHARD, clock};
use crate::{
    emit::{Due, Emitted, NewEvent},
    operator::{Operation, PausedTopic},
    store::{Delivered, Epoch, Kept, Member, MemberId, Owned, Position, Verdict},
};
use chrono::{DateTime, Utc};
use std::{collections::BTreeMap, time::Duration};
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
    pub(super) delivered: Vec<Delivered>,
    /// By dedupe key: the event that was emitted with it, and when that is forgotten.
    dedupe: BTreeMap<String, (Uuid, DateTime<Utc>)>,
    /// By name.
    pub(super) paused: BTreeMap<String, PausedTopic>,
    /// What operators did, in the order in which they did.
    pub(super) operations: Vec<Operation>,
    /// With the ends of the leases and the times of joining.
    pub(super) members: BTreeMap<MemberId, Joined>,
    pub(super) owner: Option<MemberId>,
    pub(super) epoch: Epoch,
    pub(super) revision: i64,
}

/// A member's row.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) member: Member,
    pub(super) lease_until: DateTime<Utc>,
    pub(super) joined_at: DateTime<Utc>,
}

impl State {
    /// Writes an event that is emitted, unless one with its dedupe key was.
    pub(super) fn emit(&mut self, now: DateTime<Utc>, event: NewEvent) -> Emitted {
        let id = event.id;
        if let Some(dedupe) = &event.dedupe {
            let expires_at = clock::later(now, dedupe.window);
            let held = self.dedupe.entry(dedupe.key.clone());
            let held = held.or_insert((id, expires_at));
            if held.1 <= now {
                *held = (id, expires_at);
            }
            if held.0 != id {
                return Emitted::Duplicate(held.0);
            }
        }
        self.insert(now, event);
        Emitted::New(id)
    }

    fn insert(&mut self, now: DateTime<Utc>, event: NewEvent) {
        let due_at = due_at(now, event.due);
        if due_at > now {
            let delayed = DelayedEvent {
                event,
                created_at: now,
                due_at,
            };
            self.delayed.insert((due_at, delayed.event.id), delayed);
        } else {
            self.append(event, now);
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
                    let PendingEvent {
                        mut event,
                        created_at,
                        ..
                    } = pending;
                    if *reason != crate::store::DeadReason::Crashed {
                        event.attempts += 1;
                    }
                    let letter = DeadLetter {
                        event,
                        reason: *reason,
                        error: error.clone(),
                        blocks: *blocks,
                        created_at,
                        dead_at: now,
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
            let delayed = next.remove();
            self.append(delayed.event, delayed.created_at);
            moved += 1;
        }
        moved
    }

    /// Deletes what has been kept for longer than `age`, the oldest first; returns how many.
    pub(super) fn prune(
        &mut self,
        kept: Kept,
        age: Duration,
        limit: usize,
        now: DateTime<Utc>,
    ) -> usize {
        let mut left = limit;
        let mut goes = |kept_since| {
            let goes = left > 0 && is_old(kept_since, age, now);
            left -= usize::from(goes);
            goes
        };
        match kept {
            Kept::Delivered => self.delivered.retain(|row| !goes(row.delivered_at)),
            Kept::Dead => self.dead.retain(|_, row| row.blocks || !goes(row.dead_at)),
            Kept::Operations => self.operations.retain(|row| !goes(row.done_at)),
            // No consumer keeps his inbox here.
            Kept::Inbox => {}
            Kept::DedupeKeys => self.dedupe.retain(|_, (_, expires_at)| !goes(*expires_at)),
        }
        limit - left
    }

    fn append(&mut self, event: NewEvent, created_at: DateTime<Utc>) {
        let position = self.next_position();
        let pending = PendingEvent::at(position, event, created_at);
        self.pending.insert(position, pending);
    }

    /// A position that has never been used.
    pub(super) fn next_position(&mut self) -> Position {
        self.last += 1;
        self.last
    }
}

/// When an event falls due that was written now.
pub(super) fn due_at(now: DateTime<Utc>, due: Due) -> DateTime<Utc> {
    match due {
        Due::Now => now,
        Due::After(delay) => clock::later(now, delay),
        Due::At(time) => time,
    }
}

/// Whether something has been kept for longer than `age`.
pub(super) fn is_old(since: DateTime<Utc>, age: Duration, now: DateTime<Utc>) -> bool {
    since <= now && clock::until(since, now) >= age
}
