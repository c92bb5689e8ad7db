use super::{
    config::Config,
    desk::Desk,
    health::Health,
    router::Router,
    schedule::{LaneId, Pending},
};
use crate::store::{
    MemberId, Outcomes, Position, Settled, Settlement, Shard, Store, StoreErrorKind, Verdict,
};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};
use tracing::error;

/// Writes outcomes in batches, in the order they arose.
pub(crate) struct Settler<S> {
    pub(crate) desk: Arc<Desk>,
    pub(crate) store: S,
    pub(crate) config: Arc<Config>,
    /// For messages.
    pub(crate) router: Arc<Router>,
    pub(crate) member: MemberId,
    pub(crate) phase: watch::Receiver<Phase>,
    pub(crate) stuck: Stuck,
}

/// How far the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Working,
    /// Nothing new arises: write what there is, then end.
    Flushing,
    /// Write what can be written in one try, then end.
    Leaving,
}

/// Outcomes that the database refuses, with those that come after them in their lanes.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    lanes: HashMap<(Shard, LaneId), VecDeque<Pending>>,
    retry_at: Option<Instant>,
    /// How long they waited the last time.
    pause: Duration,
}

/// Why a settler ends before everything is written.
#[derive(Debug)]
pub(crate) enum Ended {
    /// A shard belongs to somebody else now.
    Lost,
    /// The session is leaving and the database does not answer. Nothing is written after what
    /// could not be: the next owner delivers these events again, and must find those behind them.
    GivenUp,
}

const RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(2));
/// Between two tries of refused outcomes: twice as long each time.
const STUCK_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

impl<S: Store> Settler<S> {
    pub(crate) async fn run(mut self) -> Result<(), Ended> {
        loop {
            let desk = Arc::clone(&self.desk);
            let arrived = desk.outcomes.notified();
            // Also while there is always something to write.
            self.retry_stuck().await?;
            let batch = self.desk.schedule().take_outcomes(self.config.settle_batch);
            match batch {
                batch if !batch.is_empty() => self.write(batch).await?,
                _ if self.phase() > Phase::Working => return Ok(()),
                _ => {
                    let mut phase = self.phase.clone();
                    let retry_at = self.stuck.retry_at;
                    tokio::select! {
                        () = arrived => self.linger().await,
                        () = sleep_until(retry_at.unwrap_or_else(Instant::now)), if retry_at.is_some() => {}
                        _ = phase.changed() => {}
                    }
                }
            }
        }
    }

    /// A session that is gone, by a panic, wants nothing more.
    fn phase(&self) -> Phase {
        match self.phase.has_changed() {
            Ok(_) => *self.phase.borrow(),
            Err(_) => Phase::Leaving,
        }
    }

    /// Waits a moment for others to write along, unless there is a batch already.
    async fn linger(&mut self) {
        let enough = self.desk.schedule().unwritten() >= self.config.settle_batch;
        if !enough && !self.config.settle_linger.is_zero() {
            let mut phase = self.phase.clone();
            let _ = timeout(self.config.settle_linger, phase.changed()).await;
        }
    }

    /// Writes a batch; where the database refuses it, its halves, down to single outcomes.
    async fn write(&mut self, batch: Vec<Pending>) -> Result<(), Ended> {
        let mut parts = vec![batch];
        while let Some(batch) = parts.pop() {
            let batch = self.keep_behind(batch);
            if batch.is_empty() {
                continue;
            }
            match self.settle(batch).await? {
                Written::Yes => {}
                Written::Refused(mut refused) if refused.len() > 1 => {
                    let second = refused.split_off(refused.len() / 2);
                    parts.push(second);
                    parts.push(refused);
                }
                Written::Refused(refused) => {
                    for pending in refused {
                        self.hold(pending);
                    }
                }
            }
        }
        Ok(())
    }

    fn hold(&mut self, pending: Pending) {
        let lane = (pending.owned.shard, pending.lane);
        let mut schedule = self.desk.schedule();
        schedule.refused(&pending);
        schedule.hold(lane.0, lane.1, true, Instant::now());
        drop(schedule);
        self.stuck
            .lanes
            .entry(lane)
            .or_default()
            .push_front(pending);
        let next = Instant::now() + self.stuck.pause.max(STUCK_PAUSE.0);
        self.stuck.retry_at.get_or_insert(next);
    }

    /// Tries the refused outcomes again, lane by lane.
    async fn retry_stuck(&mut self) -> Result<(), Ended> {
        if self.stuck.retry_at.is_none_or(|at| at > Instant::now()) {
            return Ok(());
        }
        self.stuck.retry_at = None;
        self.stuck.pause = (self.stuck.pause * 2).clamp(STUCK_PAUSE.0 * 2, STUCK_PAUSE.1);
        for ((shard, lane), outcomes) in std::mem::take(&mut self.stuck.lanes) {
            {
                let mut schedule = self.desk.schedule();
                let refused = outcomes.iter();
                refused.for_each(|pending| schedule.refused_no_more(pending));
                schedule.hold(shard, lane, false, Instant::now());
            }
            self.write(outcomes.into()).await?;
        }
        if self.stuck.lanes.is_empty() {
            self.stuck.pause = Duration::ZERO;
        }
        Ok(())
    }

    /// Parts a batch that was written from the dead letters that met nothing although their events
    /// are still there: an older letter has their place (after a restore). Their lanes wait.
    async fn kept(&self, batch: Vec<Pending>, gone: &[Position]) -> (Vec<Pending>, Vec<Pending>) {
        let is_letter = |pending: &&Pending| {
            let settlement = &pending.settlement;
            let dead = matches!(settlement.verdict, Verdict::Dead { .. });
            dead && gone.contains(&settlement.position)
        };
        let letters: Vec<_> = batch.iter().filter(is_letter).collect();
        if letters.is_empty() {
            return (batch, Vec::new());
        }
        let positions: Vec<_> = letters
            .iter()
            .map(|pending| pending.settlement.position)
            .collect();
        // Without an answer they may all be there: then they are tried again.
        let there = match self.store.read(&positions, 0).await {
            Ok(rows) => rows.iter().map(|row| (row.position, row.id)).collect(),
            Err(_) => letters
                .iter()
                .map(|pending| (pending.settlement.position, pending.settlement.id))
                .collect::<HashSet<_>>(),
        };
        let (kept, written): (Vec<_>, Vec<_>) = batch.into_iter().partition(|pending| {
            is_letter(&pending)
                && there.contains(&(pending.settlement.position, pending.settlement.id))
        });
        for pending in &kept {
            let position = pending.settlement.position;
            error!(
                position,
                "an older dead letter has the event's place: its aggregate waits"
            );
        }
        (written, kept)
    }

    /// One settle, tried again while the database is busy or away.
    async fn settle(&mut self, batch: Vec<Pending>) -> Result<Written, Ended> {
        let outcomes = by_shard(&batch);
        let mut pause = RETRY_PAUSE.0;
        let mut health = Health::new("settling");
        loop {
            let result = self
                .store
                .settle(self.member, &outcomes, self.config.history)
                .await;
            match result {
                Ok(settled) => {
                    health.up();
                    let mut gone = Vec::new();
                    for settled in settled {
                        match settled {
                            Settled::Written { gone: more } => gone.extend(more),
                            Settled::Lost => return Err(Ended::Lost),
                        }
                    }
                    let (batch, kept) = self.kept(batch, &gone).await;
                    self.tell(&batch, &gone);
                    self.desk.schedule().committed(batch, &gone, Instant::now());
                    for pending in kept {
                        self.hold(pending);
                    }
                    self.desk.call_worker();
                    self.desk.reading.notify_one();
                    return Ok(Written::Yes);
                }
                Err(error) if error.kind() == StoreErrorKind::Refused => {
                    if let [only] = &*batch {
                        let position = only.settlement.position;
                        let error = &error as &dyn std::error::Error;
                        error!(
                            error,
                            position, "an outcome is refused; its aggregate waits"
                        );
                    }
                    return Ok(Written::Refused(batch));
                }
                Err(error) => health.down(&error),
            }
            if self.phase() == Phase::Leaving {
                return Err(Ended::GivenUp);
            }
            sleep(pause).await;
            pause = (pause * 2).min(RETRY_PAUSE.1);
        }
    }
}

impl<S> Settler<S> {
    /// Takes out what must wait behind a refused outcome of its lane.
    fn keep_behind(&mut self, outcomes: Vec<Pending>) -> Vec<Pending> {
        if self.stuck.lanes.is_empty() {
            return outcomes;
        }
        let mut schedule = self.desk.schedule();
        let mut free = Vec::with_capacity(outcomes.len());
        for pending in outcomes {
            let lane = (pending.owned.shard, pending.lane);
            match self.stuck.lanes.get_mut(&lane) {
                Some(behind) => {
                    schedule.refused(&pending);
                    behind.push_back(pending);
                }
                None => free.push(pending),
            }
        }
        free
    }

    /// Dead letters are never silent.
    fn tell(&self, batch: &[Pending], gone: &[Position]) {
        for Pending {
            route, settlement, ..
        } in batch
        {
            let Settlement {
                position,
                id,
                verdict,
            } = settlement;
            let Verdict::Dead {
                reason,
                error,
                blocks,
            } = verdict
            else {
                continue;
            };
            if gone.contains(position) {
                continue;
            }
            let topic = route.map_or("-", |route| &self.router.route(route).name);
            let then = if *blocks {
                "dead letter: the later events of its aggregate wait for an operator"
            } else {
                "dead letter"
            };
            error!(topic, event = %id, position, %reason, error, "{then}");
        }
    }
}

/// The outcomes as the store takes them. A batch has those of a shard one behind the other.
fn by_shard(batch: &[Pending]) -> Vec<Outcomes> {
    batch
        .chunk_by(|a, b| a.owned == b.owned)
        .map(|shard| {
            let settlements = shard.iter().map(|pending| pending.settlement.clone());
            Outcomes::new(shard[0].owned, settlements.collect())
        })
        .collect()
}

enum Written {
    Yes,
    /// The lasting kind of no.
    Refused(Vec<Pending>),
}
