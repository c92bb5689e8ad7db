use super::{
    config::Config,
    desk::Desk,
    health::Health,
    ownership::Ownership,
    pace::Pace,
    pulse::Pulse,
    schedule::{Late, Obstacle, Strange},
    sleep::{Look, Sleep},
};
use crate::store::{Ear, FetchRequest, Fetched, Horizon, MemberId, Moved, Store, StoreError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// Reads the events of the shards that are owned into the schedule.
pub(crate) struct Reader<'a, S> {
    pub(crate) desk: &'a Desk,
    pub(crate) store: &'a S,
    pub(crate) config: &'a Config,
    pub(crate) member: MemberId,
    pub(crate) ownership: Ownership<'a, S>,
    pub(crate) pulse: &'a Pulse,
    /// Set when the lease or a shard is lost.
    pub(crate) lost: &'a CancellationToken,
    pub(crate) pace: Pace,
    /// What other processes commit.
    pub(crate) ear: &'a Ear,
    pub(crate) sleep: Sleep,
    /// Until the next delayed event falls due, as the last fetch saw it.
    pub(crate) due_at: Option<Instant>,
}

/// What a turn of the reader found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn {
    /// New events were read.
    found: bool,
    /// There is more to read.
    more: bool,
    /// Nothing was to be done before the read either: the outbox is idle.
    pub(crate) idle: bool,
    horizon: Horizon,
}

/// How many delayed events are moved at once.
const MOVE_BATCH: usize = 500;

impl<S: Store> Reader<'_, S> {
    /// Reads until `stop`, or until `until_idle` and there is nothing left to do.
    pub(crate) async fn run(&mut self, stop: &CancellationToken, until_idle: bool) {
        let mut health = Health::new("reading events");
        let mut saying = Health::new("saying whether it sleeps");
        let mut hints = self.store.wake().subscribe();
        let mut heard = self.ear.subscribe();
        let mut woken = false;
        while !stop.is_cancelled() && !self.lost.is_cancelled() {
            self.pulse.beat();
            let reading = self.desk.reading.notified();
            let (turn, failed) = match self.turn().await {
                Ok(turn) => {
                    health.up();
                    (turn, false)
                }
                Err(error) => {
                    health.down(&error);
                    (Turn::default(), true)
                }
            };
            if until_idle && turn.idle {
                return;
            }
            if !failed {
                let listening = heard.borrow().listening;
                self.say(turn, woken, listening, &mut saying).await;
            }
            let pause = self.pace.after(turn.found, fastrand::f64());
            if turn.more && self.desk.schedule().reads_on() {
                continue;
            }
            let poll = Instant::now() + pause;
            // What was due and failed is still due: only the pause keeps from hurrying then.
            let until = if failed { poll } else { self.wait_until(poll) };
            woken = false;
            tokio::select! {
                () = sleep_until(until) => {}
                () = reading => {}
                Ok(()) = hints.changed() => self.pace.hint(),
                Ok(()) = heard.changed() => woken = true,
                () = stop.cancelled() => {}
                () = self.lost.cancelled() => {}
            }
        }
    }

    /// Says that this dispatcher sleeps, or no longer, when that is so.
    async fn say(&mut self, turn: Turn, woken: bool, listening: bool, health: &mut Health) {
        let look = Look {
            found: turn.found,
            woken,
            hears: listening && !self.desk.schedule().owned().is_empty(),
            idle: turn.idle && self.pace.is_slow(),
        };
        if let Some(asleep) = self.sleep.after(look, Instant::now()) {
            match self.store.set_sleeping(self.member, asleep).await {
                Ok(()) => {
                    health.up();
                    self.sleep.said(asleep);
                    // Writers that did not see it yet wake nobody.
                    self.pace.hurry();
                }
                Err(error) => health.down(&error),
            }
        } else if self.sleep.is_deep(turn.horizon) {
            self.pace.rest();
        }
    }

    fn wait_until(&self, poll: Instant) -> Instant {
        let (schedule, now) = (self.desk.schedule(), Instant::now());
        let timers = [
            schedule.next_due(now),
            schedule.next_rewind(now),
            self.due_at,
        ];
        timers
            .into_iter()
            .flatten()
            .fold(poll.min(self.ownership.next_look()), Instant::min)
    }

    async fn turn(&mut self) -> Result<Turn, StoreError> {
        if self.ownership.is_look_due().await? {
            self.ownership.look().await?;
        }
        self.mark_suspects().await?;
        self.wake_heads().await?;
        // Delayed events that cannot be moved hold back no others.
        let moved = match self.due_at {
            Some(due) if due <= Instant::now() => self.move_due().await,
            _ => Ok(()),
        };
        let now = Instant::now();
        let (cursors, was_idle) = {
            let mut schedule = self.desk.schedule();
            schedule.share_out(now);
            schedule.rewind(now);
            let was_idle = schedule.is_idle(now);
            if schedule.is_startable(now) {
                // A topic's pause may have ended: nobody else tells the workers.
                self.desk.call_worker();
            }
            (schedule.send_fetch(), was_idle)
        };
        if cursors.is_empty() {
            return moved.map(|()| Turn::default());
        }
        let request = FetchRequest::new(self.member, &cursors, self.config.inline_bytes());
        let fetched = self.store.fetch(&request).await?;
        if fetched.shards.len() < cursors.len() {
            info!("a shard has a new owner");
            self.lost.cancel();
            return Ok(Turn::default());
        }
        let turn = self.take_in(fetched, was_idle).await?;
        moved.map(|()| turn)
    }

    async fn take_in(&mut self, mut fetched: Fetched, was_idle: bool) -> Result<Turn, StoreError> {
        let changed = self.desk.schedule().reset_changed(&fetched.shards);
        if !changed.is_empty() {
            debug!(
                ?changed,
                "new shards, or an operator's change: reading anew"
            );
            self.ownership.hold_back(&changed).await?;
            return Ok(Turn {
                more: true,
                ..Turn::default()
            });
        }
        let late = self.desk.schedule().late(&fetched);
        match late {
            Late::WentBack => {
                return Ok(Turn {
                    more: true,
                    ..Turn::default()
                });
            }
            Late::Read(late) if late.is_empty() => {}
            Late::Read(late) => {
                let inline_bytes = self.config.inline_bytes();
                fetched
                    .rows
                    .extend(self.store.read(&late, inline_bytes).await?);
                fetched.rows.sort_by_key(|row| (row.shard, row.position));
            }
        }
        let now = Instant::now();
        let horizon = fetched.horizon;
        let due_in = fetched.shards.iter().filter_map(|seen| seen.due_in).min();
        self.due_at = due_in.map(|due_in| now + due_in);
        let (strange, found, more, idle) = {
            let mut schedule = self.desk.schedule();
            let before = schedule.waiting();
            let strange = schedule.admit(fetched, now);
            let found = schedule.waiting() > before;
            let idle = was_idle && schedule.is_idle(now);
            (strange, found, schedule.has_more(), idle)
        };
        for strange in strange {
            report(&strange);
        }
        if found {
            self.desk.call_worker();
        }
        let overdue = self.due_at.is_some_and(|due| due <= now);
        Ok(Turn {
            found,
            more,
            idle: idle && !found && !more && !overdue,
            horizon,
        })
    }

    /// Marks events that may have been in work when a former owner died, before they are started.
    async fn mark_suspects(&mut self) -> Result<(), StoreError> {
        let all_marks = self.desk.schedule().marks();
        for (owned, marks) in all_marks {
            if !self.store.mark_crashes(self.member, &owned, &marks).await? {
                self.lost.cancel();
                return Ok(());
            }
            self.desk.schedule().marked(owned.shard, &marks);
            self.desk.call_worker();
        }
        Ok(())
    }

    /// Reads the heads of parked lanes whose time has come.
    async fn wake_heads(&mut self) -> Result<(), StoreError> {
        let heads = self.desk.schedule().due_heads(Instant::now());
        let (mut left, inline_bytes) = (&heads[..], self.config.inline_bytes());
        while !left.is_empty() {
            let (some, rest) = left.split_at(left.len().min(self.config.batch));
            let positions: Vec<_> = some.iter().map(|head| head.position).collect();
            match self.store.read(&positions, inline_bytes).await {
                Ok(rows) => self.desk.schedule().revive(some, rows, Instant::now()),
                Err(error) => {
                    // All that are left: their timers have gone off.
                    let at = Instant::now() + Duration::from_millis(500);
                    self.desk.schedule().put_off_heads(left, at);
                    return Err(error);
                }
            }
            left = rest;
        }
        if !heads.is_empty() {
            self.desk.call_worker();
        }
        Ok(())
    }

    /// Gives delayed events that are due their places.
    async fn move_due(&mut self) -> Result<(), StoreError> {
        let owned = self.desk.schedule().owned();
        for owned in owned {
            loop {
                match self.store.move_due(self.member, &owned, MOVE_BATCH).await? {
                    Moved::Events(count) if count < MOVE_BATCH => break,
                    Moved::Events(_) => self.pulse.beat(),
                    Moved::Lost => {
                        self.lost.cancel();
                        return Ok(());
                    }
                }
            }
        }
        self.due_at = None;
        Ok(())
    }
}

fn report(strange: &Strange) {
    let Strange {
        position, topic, ..
    } = strange;
    match (&strange.obstacle, &strange.fault) {
        (Obstacle::Unreadable, Some(fault)) => {
            warn!(
                position,
                fault, "a row of the outbox is no event: it stays where it is"
            );
        }
        _ => warn!(
            position,
            topic, "no handler for the topic: the event stays in the outbox"
        ),
    }
}
