use super::{
    MemoryStore, PendingEvent, SHARD, clock,
    state::{Joined, State, is_old},
};
use crate::{
    store::{
        Blocked, Delivered, FetchRequest, Fetched, History, Horizon, Kept, Liveness, Member,
        MemberId, MemberView, Moved, Outcomes, Owned, Position, Row, Seen, Settled, Shard,
        ShardView, Store, StoreError, Verdict,
    },
    wake::Wake,
};
use chrono::{DateTime, SecondsFormat, Utc};
use std::{
    ops::Bound::{Excluded, Included, Unbounded},
    time::Duration,
};
use tokio::task::coop;
use uuid::Uuid;

impl MemoryStore {
    /// Runs one verb under the lock.
    pub(super) async fn run<T>(
        &self,
        verb: impl FnOnce(&mut State, DateTime<Utc>) -> T + Send,
    ) -> T {
        // No verb ever waits: a loop over them must still let its neighbours run.
        coop::consume_budget().await;
        let now = self.now();
        verb(&mut self.state(), now)
    }
}

impl Store for MemoryStore {
    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn in_process(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn connect_apart(&self) -> Result<Self, StoreError> {
        Ok(self.clone())
    }

    fn wake(&self) -> Wake {
        self.inner.wake.clone()
    }

    async fn join(&self, member: &Member, lease: Duration) -> Result<(), StoreError> {
        self.run(|state, now| {
            let row = state.members.entry(member.id).or_insert_with(|| Joined {
                member: member.clone(),
                lease_until: now,
                joined_at: now,
            });
            row.lease_until = clock::later(now, lease);
        })
        .await;
        Ok(())
    }

    async fn renew(&self, member: MemberId, lease: Duration) -> Result<bool, StoreError> {
        let renew = |state: &mut State, now| {
            let row = state.members.get_mut(&member);
            row.map(|row| row.lease_until = clock::later(now, lease))
                .is_some()
        };
        Ok(self.run(renew).await)
    }

    async fn members(&self) -> Result<Vec<MemberView>, StoreError> {
        let view = |now, (id, row): (&MemberId, &Joined)| {
            let liveness = if row.lease_until > now {
                Liveness::Alive
            } else {
                Liveness::Expired
            };
            MemberView::new(*id, as_text(row.lease_until), liveness)
        };
        let members = |state: &mut State, now| {
            let rows = state.members.iter();
            rows.map(|row| view(now, row)).collect()
        };
        Ok(self.run(members).await)
    }

    async fn evict(&self, seen: &MemberView) -> Result<bool, StoreError> {
        let evict = |state: &mut State, _| {
            let until = state.members.get(&seen.id).map(|row| row.lease_until);
            until.is_some_and(|until| as_text(until) == seen.lease_until)
                && state.members.remove(&seen.id).is_some()
        };
        Ok(self.run(evict).await)
    }

    async fn leave(&self, member: MemberId) -> Result<(), StoreError> {
        self.run(|state, _| {
            if state.owner == Some(member) {
                state.owner = None;
            }
            state.members.remove(&member);
        })
        .await;
        Ok(())
    }

    async fn shards(&self) -> Result<Vec<ShardView>, StoreError> {
        let view = |state: &mut State, _| {
            let held = state.held();
            vec![ShardView::new(SHARD, state.epoch, state.owner, held)]
        };
        Ok(self.run(view).await)
    }

    async fn take(&self, member: MemberId, seen: &[ShardView]) -> Result<Vec<Owned>, StoreError> {
        let take = |state: &mut State, _| {
            let as_seen = seen.iter().any(|view| {
                view.shard == SHARD && view.epoch == state.epoch && view.owner == state.owner
            });
            if !as_seen || state.held() || !state.members.contains_key(&member) {
                return Vec::new();
            }
            // An owner that has gone without releasing may have died with events in work.
            let suspect_to = state.owner.map_or(0, |_| state.last_pending());
            state.owner = Some(member);
            state.epoch += 1;
            vec![Owned::new(SHARD, state.epoch, suspect_to)]
        };
        Ok(self.run(take).await)
    }

    async fn release(&self, member: MemberId, owned: &[Owned]) -> Result<(), StoreError> {
        self.run(|state, _| {
            if owned.iter().any(|owned| state.fence(member, owned)) {
                state.owner = None;
            }
        })
        .await;
        Ok(())
    }

    async fn blocked(&self, shards: &[Shard]) -> Result<Vec<Blocked>, StoreError> {
        if !shards.contains(&SHARD) {
            return Ok(Vec::new());
        }
        let blocked = |state: &mut State, _| {
            let blocking = state.dead.values().filter(|letter| letter.blocks);
            blocking
                .map(|letter| {
                    let event = &letter.event;
                    let (aggregate, key) = (event.aggregate.clone(), event.key.clone());
                    Blocked::new(SHARD, event.position, aggregate, key)
                })
                .collect()
        };
        Ok(self.run(blocked).await)
    }

    async fn paused(&self) -> Result<Vec<String>, StoreError> {
        let paused = |state: &mut State, _| state.paused.keys().cloned().collect();
        Ok(self.run(paused).await)
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, StoreError> {
        Ok(self.run(|state, now| fetch(state, now, request)).await)
    }

    async fn read(
        &self,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let read = |state: &mut State, now| {
            let found = positions.iter().filter_map(|at| state.pending.get(at));
            found
                .map(|pending| pending.row(now, inline_bytes))
                .collect()
        };
        Ok(self.run(read).await)
    }

    async fn settle(
        &self,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, StoreError> {
        let settle = |state: &mut State, now| {
            let shard = |outcomes| settle(state, now, member, outcomes, history);
            outcomes.iter().map(shard).collect()
        };
        Ok(self.run(settle).await)
    }

    async fn move_due(
        &self,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, StoreError> {
        let move_due = |state: &mut State, now| {
            if state.fence(member, owned) {
                Moved::Events(state.move_due(now, limit))
            } else {
                Moved::Lost
            }
        };
        Ok(self.run(move_due).await)
    }

    async fn mark_crashes(
        &self,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, StoreError> {
        let mark = |state: &mut State, _| {
            let fence = state.fence(member, owned);
            for (position, crashes) in marks.iter().filter(|_| fence) {
                if let Some(pending) = state.pending.get_mut(position) {
                    pending.crashes = *crashes;
                }
            }
            fence
        };
        Ok(self.run(mark).await)
    }

    async fn prune(&self, kept: Kept, age: Duration, limit: usize) -> Result<usize, StoreError> {
        let prune = |state: &mut State, now| state.prune(kept, age, limit, now);
        Ok(self.run(prune).await)
    }

    async fn expired(&self, age: Duration, limit: usize) -> Result<Vec<Delivered>, StoreError> {
        let expired = |state: &mut State, now| {
            let rows = state.delivered.iter();
            let old = rows.filter(|row| is_old(row.delivered_at, age, now));
            old.take(limit).cloned().collect()
        };
        Ok(self.run(expired).await)
    }

    async fn forget(&self, events: &[(Position, Uuid)]) -> Result<usize, StoreError> {
        let forget = |state: &mut State, _| {
            let before = state.delivered.len();
            let named = |row: &Delivered| events.contains(&(row.event.position, row.event.id));
            state.delivered.retain(|row| !named(row));
            before - state.delivered.len()
        };
        Ok(self.run(forget).await)
    }
}

fn settle(
    state: &mut State,
    now: DateTime<Utc>,
    member: MemberId,
    outcomes: &Outcomes,
    history: History,
) -> Settled {
    if !state.fence(member, &outcomes.owned) {
        return Settled::Lost;
    }
    let mut gone = Vec::new();
    for outcome in &outcomes.settlements {
        let (position, id) = (outcome.position, outcome.id);
        if outcome.verdict == Verdict::Done {
            let done = state.remove(position, id);
            let kept = done.filter(|_| history == History::Keep);
            state.delivered.extend(kept.map(|pending| Delivered {
                event: pending.event,
                created_at: pending.created_at,
                delivered_at: now,
            }));
        } else if !state.fail(now, position, id, &outcome.verdict) {
            gone.push(position);
        }
    }
    Settled::Written { gone }
}

fn fetch(state: &State, now: DateTime<Utc>, request: &FetchRequest<'_>) -> Fetched {
    let owned = request.cursors.iter().find(|cursor| {
        let owned = Owned::new(cursor.shard, cursor.epoch, 0);
        state.fence(request.member, &owned)
    });
    let Some(cursor) = owned else {
        return Fetched::new(Vec::new(), Vec::new(), Vec::new(), Horizon::CommitOrder);
    };
    let due = state.delayed.first_key_value();
    let due_in = due.map(|((due_at, _), _)| clock::until(now, *due_at));
    let (floor, scan) = (cursor.floor, cursor.scan.max(cursor.floor));
    let again = state.pending.range((Excluded(floor), Included(scan)));
    let ahead = state.pending.range((Excluded(scan), Unbounded));
    let row = |(_, pending): (_, &PendingEvent)| pending.row(now, request.inline_bytes);
    Fetched::new(
        vec![Seen::new(SHARD, state.revision, due_in)],
        again.map(|(position, _)| (SHARD, *position)).collect(),
        ahead.take(cursor.limit).map(row).collect(),
        Horizon::CommitOrder,
    )
}

fn as_text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Nanos, true)
}
