use super::{
    config::Config,
    desk::Desk,
    health::Health,
    schedule::{Batch, LaneId, Pending},
};
use crate::store::{MemberId, Settled, Shard, Store, StoreErrorKind};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tracing::error;

/// Writes outcomes in batches, in the order they arose.
pub(crate) struct Settler<S> {
    pub(crate) desk: Arc<Desk>,
    pub(crate) store: S,
    pub(crate) config: Arc<Config>,
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
}

/// The shard belongs to somebody else now.
#[derive(Debug)]
pub(crate) struct ShardLost;

const RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(2));
const STUCK_PAUSE: Duration = Duration::from_secs(30);

impl<S: Store> Settler<S> {
    pub(crate) async fn run(mut self) -> Result<(), ShardLost> {
        loop {
            let desk = Arc::clone(&self.desk);
            let arrived = desk.outcomes.notified();
            let batch = self.desk.schedule().take_outcomes(self.config.settle_batch);
            match batch {
                Some(batch) => self.write(batch).await?,
                None if *self.phase.borrow() > Phase::Working => return Ok(()),
                None => {
                    let mut phase = self.phase.clone();
                    tokio::select! {
                        () = arrived => self.linger().await,
                        () = sleep(STUCK_PAUSE) => {}
                        _ = phase.changed() => {}
                    }
                    self.retry_stuck().await?;
                }
            }
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
    async fn write(&mut self, batch: Batch) -> Result<(), ShardLost> {
        let owned = batch.owned;
        let mut parts = vec![batch.outcomes];
        while let Some(outcomes) = parts.pop() {
            let mut outcomes = self.stuck.keep_behind(owned.shard, outcomes);
            if outcomes.is_empty() {
                continue;
            }
            match self
                .settle(Batch {
                    owned,
                    outcomes: std::mem::take(&mut outcomes),
                })
                .await?
            {
                Written::Yes | Written::Given => {}
                Written::Refused(mut refused) if refused.len() > 1 => {
                    let second = refused.split_off(refused.len() / 2);
                    parts.push(second);
                    parts.push(refused);
                }
                Written::Refused(refused) => {
                    for pending in refused {
                        self.hold(owned.shard, pending);
                    }
                }
            }
        }
        Ok(())
    }

    fn hold(&mut self, shard: Shard, pending: Pending) {
        self.desk
            .schedule()
            .hold(shard, pending.lane, true, Instant::now());
        self.stuck
            .lanes
            .entry((shard, pending.lane))
            .or_default()
            .push_front(pending);
        self.stuck
            .retry_at
            .get_or_insert(Instant::now() + STUCK_PAUSE);
    }

    /// Tries the refused outcomes again, lane by lane.
    async fn retry_stuck(&mut self) -> Result<(), ShardLost> {
        if self.stuck.retry_at.is_none_or(|at| at > Instant::now()) {
            return Ok(());
        }
        self.stuck.retry_at = None;
        let owned: HashMap<_, _> = self
            .desk
            .schedule()
            .owned()
            .into_iter()
            .map(|owned| (owned.shard, owned))
            .collect();
        for ((shard, lane), outcomes) in std::mem::take(&mut self.stuck.lanes) {
            let Some(owned) = owned.get(&shard).copied() else {
                continue;
            };
            self.desk
                .schedule()
                .hold(shard, lane, false, Instant::now());
            self.write(Batch {
                owned,
                outcomes: outcomes.into(),
            })
            .await?;
        }
        Ok(())
    }

    /// One settle, tried again while the database is busy or away.
    async fn settle(&mut self, batch: Batch) -> Result<Written, ShardLost> {
        let outcomes: Vec<_> = batch
            .outcomes
            .iter()
            .map(|pending| pending.settlement.clone())
            .collect();
        let mut pause = RETRY_PAUSE.0;
        let mut health = Health::new("settling");
        loop {
            let result = self
                .store
                .settle(self.member, &batch.owned, &outcomes, self.config.history)
                .await;
            match result {
                Ok(settled) => {
                    health.up();
                    let Settled::Written { gone } = settled else {
                        return Err(ShardLost);
                    };
                    self.desk.schedule().committed(batch, &gone, Instant::now());
                    self.desk.work.notify_one();
                    self.desk.reading.notify_one();
                    return Ok(Written::Yes);
                }
                Err(error) if error.kind() == StoreErrorKind::Refused => {
                    if outcomes.len() == 1 {
                        let position = outcomes[0].position;
                        let error = &error as &dyn std::error::Error;
                        error!(
                            error,
                            position, "an outcome is refused; its aggregate waits"
                        );
                    }
                    return Ok(Written::Refused(batch.outcomes));
                }
                Err(error) => health.down(&error),
            }
            if *self.phase.borrow() == Phase::Leaving {
                return Ok(Written::Given);
            }
            sleep(pause).await;
            pause = (pause * 2).min(RETRY_PAUSE.1);
        }
    }
}

enum Written {
    Yes,
    /// The lasting kind of no.
    Refused(Vec<Pending>),
    /// Given up: the next owner delivers these events again.
    Given,
}

impl Stuck {
    /// Takes out what must wait behind a refused outcome of its lane.
    fn keep_behind(&mut self, shard: Shard, outcomes: Vec<Pending>) -> Vec<Pending> {
        if self.lanes.is_empty() {
            return outcomes;
        }
        let mut free = Vec::with_capacity(outcomes.len());
        for pending in outcomes {
            match self.lanes.get_mut(&(shard, pending.lane)) {
                Some(behind) => behind.push_back(pending),
                None => free.push(pending),
            }
        }
        free
    }
}
