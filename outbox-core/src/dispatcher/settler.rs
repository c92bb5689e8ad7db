use super::{
    answer,
    config::Config,
    desk::Desk,
    router::Router,
    schedule::{LaneId, Pending},
    settling::{Answer, Phase, Settling, phase},
};
use crate::store::{MemberId, Outcomes, Position, Settlement, Shard, Store, StoreError, Verdict};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::error;

/// Writes outcomes in batches, in the order they arose; several batches at once where the store can,
/// each of other shards.
pub(crate) struct Settler<S> {
    pub(crate) desk: Arc<Desk>,
    pub(crate) store: S,
    pub(crate) config: Arc<Config>,
    /// For messages.
    pub(crate) router: Arc<Router>,
    pub(crate) member: MemberId,
    pub(crate) phase: watch::Receiver<Phase>,
    /// Set when the lease or a shard is lost.
    pub(crate) lost: CancellationToken,
    pub(crate) stuck: Stuck,
    /// In tasks of their own: a database call is not dropped midway.
    pub(crate) under_way: JoinSet<(Writing, Answer)>,
}

/// Outcomes on their way to the database, all that is written of their shards meanwhile.
pub(crate) struct Writing {
    shards: Vec<Shard>,
    batch: Vec<Pending>,
    /// What comes after the batch, the next part last.
    rest: Vec<Vec<Pending>>,
    /// They have been refused before.
    stuck: bool,
}

/// Outcomes that the database refuses, with those that come after them in their lanes.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    lanes: HashMap<(Shard, LaneId), VecDeque<Pending>>,
    /// Those that are being tried again, one after the other.
    due: Vec<((Shard, LaneId), VecDeque<Pending>)>,
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

/// After how many stall limits a settle is not waited for any longer. It may also wait for a lock
/// that somebody holds, and then all that was delivered comes again.
const UNANSWERED: u32 = 5;
/// Between two tries of refused outcomes: twice as long each time.
const STUCK_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

impl<S: Store> Settler<S> {
    pub(crate) async fn run(mut self) -> Result<(), Ended> {
        let ended = self.work().await;
        while self.under_way.join_next().await.is_some() {}
        ended
    }

    async fn work(&mut self) -> Result<(), Ended> {
        let at_once = self.store.settles_at_once().get();
        loop {
            let desk = Arc::clone(&self.desk);
            let arrived = desk.outcomes.notified();
            self.begin(at_once);
            let working = phase(&self.phase) == Phase::Working;
            let (running, retry_at) = (self.under_way.len(), self.stuck.retry_at);
            if running == 0 && !working {
                return Ok(());
            }
            let mut phases = self.phase.clone();
            tokio::select! {
                Some(written) = self.under_way.join_next() => {
                    // Should the store panic, the session ends: nothing would be written any more.
                    let (writing, answer) = written.map_err(|_| Ended::Lost)?;
                    self.written(writing, answer).await?;
                }
                () = arrived, if running < at_once => {
                    if running == 0 {
                        self.linger().await;
                    }
                }
                () = sleep_until(retry_at.unwrap_or_else(Instant::now)), if running == 0 && retry_at.is_some() => {}
                _ = phases.changed(), if working => {}
            }
        }
    }

    /// Begins to write what there is: one batch, and further ones where each would be full.
    fn begin(&mut self, at_once: usize) {
        // Also while there is always something to write.
        if self.stuck.retry_at.is_some_and(|at| at <= Instant::now()) {
            if !self.under_way.is_empty() {
                return;
            }
            self.retry_stuck();
        }
        while self.under_way.len() < at_once {
            let most = self.config.settle_batch;
            let least = if self.under_way.is_empty() { 1 } else { most };
            let batch = self.desk.schedule().take_outcomes(least, most);
            if batch.is_empty() {
                return;
            }
            let shards = batch.chunk_by(|a, b| a.owned == b.owned);
            self.write(Writing {
                shards: shards.map(|shard| shard[0].owned.shard).collect(),
                batch: Vec::new(),
                rest: vec![batch],
                stuck: false,
            });
        }
    }

    /// Waits a moment for others to write along, unless there is a batch already.
    async fn linger(&mut self) {
        let enough = self.desk.schedule().writable() >= self.config.settle_batch;
        if !enough && !self.config.settle_linger.is_zero() {
            let mut phase = self.phase.clone();
            let _ = timeout(self.config.settle_linger, phase.changed()).await;
        }
    }

    /// Goes on to write, or comes to the end of it.
    fn write(&mut self, mut writing: Writing) {
        while let Some(part) = self.next_part(&mut writing) {
            writing.batch = self.keep_behind(part);
            if !writing.batch.is_empty() {
                let outcomes = by_shard(&writing.batch);
                let settling = Settling {
                    store: self.store.clone(),
                    member: self.member,
                    history: self.config.history,
                    phase: self.phase.clone(),
                    limit: self.config.stall_limit * UNANSWERED,
                    lost: self.lost.clone(),
                };
                self.under_way
                    .spawn(async move { (writing, settling.settle(outcomes).await) });
                return;
            }
        }
        self.desk.schedule().end_writing(&writing.shards);
        if writing.stuck && self.stuck.lanes.is_empty() {
            self.stuck.pause = Duration::ZERO;
        }
    }

    /// A batch was written, or not; where the database refuses it, its halves follow, down to single
    /// outcomes.
    async fn written(&mut self, mut writing: Writing, answer: Answer) -> Result<(), Ended> {
        let mut batch = std::mem::take(&mut writing.batch);
        match answer {
            Answer::Written(gone) => {
                let (batch, kept) = self.kept(batch, &gone).await;
                self.tell(&batch, &gone);
                self.desk.schedule().committed(batch, &gone, Instant::now());
                for pending in kept {
                    self.hold(pending);
                }
                self.desk.call_worker();
                self.desk.reading.notify_one();
            }
            Answer::Refused(_) if batch.len() > 1 => {
                let second = batch.split_off(batch.len() / 2);
                writing.rest.push(second);
                writing.rest.push(batch);
            }
            Answer::Refused(error) => {
                for pending in batch {
                    refuse(&pending, &error);
                    self.hold(pending);
                }
            }
            Answer::Lost => return Err(Ended::Lost),
            Answer::GivenUp => return Err(Ended::GivenUp),
        }
        self.write(writing);
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
    fn retry_stuck(&mut self) {
        self.stuck.retry_at = None;
        self.stuck.pause = (self.stuck.pause * 2).clamp(STUCK_PAUSE.0 * 2, STUCK_PAUSE.1);
        self.stuck.due = self.stuck.lanes.drain().collect();
        let shards: Vec<_> = self.stuck.due.iter().map(|(lane, _)| lane.0).collect();
        self.desk.schedule().begin_writing(&shards);
        self.write(Writing {
            shards,
            batch: Vec::new(),
            rest: Vec::new(),
            stuck: true,
        });
    }

    fn next_part(&mut self, writing: &mut Writing) -> Option<Vec<Pending>> {
        if let Some(part) = writing.rest.pop() {
            return Some(part);
        }
        let due = writing.stuck.then_some(&mut self.stuck.due)?;
        let ((shard, lane), outcomes) = due.pop()?;
        let mut schedule = self.desk.schedule();
        let refused = outcomes.iter();
        refused.for_each(|pending| schedule.refused_no_more(pending));
        schedule.hold(shard, lane, false, Instant::now());
        Some(outcomes.into())
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
        let store = self.store.clone();
        let read = async move { store.read(&positions, 0).await };
        let limit = self.config.stall_limit;
        let there = match answer::within(limit, "reading dead letters' events", read).await {
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

fn refuse(pending: &Pending, error: &StoreError) {
    let position = pending.settlement.position;
    let error = error as &dyn std::error::Error;
    error!(
        error,
        position, "an outcome is refused; its aggregate waits"
    );
}
