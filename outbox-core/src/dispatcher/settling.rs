use super::health::Health;
use crate::store::{
    History, MemberId, Outcomes, Position, Settled, Store, StoreError, StoreErrorKind,
};
use std::{pin::pin, time::Duration};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::error;

/// How far the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Working,
    /// Nothing new arises: write what there is, then end.
    Flushing,
    /// Write what can be written in one try, then end.
    Leaving,
}

/// Writes outcomes, trying again while the database is busy or away.
pub(crate) struct Settling<S> {
    pub(crate) store: S,
    pub(crate) member: MemberId,
    pub(crate) history: History,
    pub(crate) phase: watch::Receiver<Phase>,
    /// How long an answer is waited for.
    pub(crate) limit: Duration,
    /// Set when there was none.
    pub(crate) lost: CancellationToken,
}

/// What the database said.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Retries and dead letters at these positions met nothing.
    Written(Vec<Position>),
    /// A shard belongs to somebody else now.
    Lost,
    /// The lasting kind of no.
    Refused(StoreError),
    /// The session is leaving and the database does not answer.
    GivenUp,
}

const RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(2));

impl<S: Store> Settling<S> {
    pub(crate) async fn settle(self, outcomes: Vec<Outcomes>) -> Answer {
        let mut pause = RETRY_PAUSE.0;
        let mut health = Health::new("settling");
        loop {
            match self.ask(&outcomes).await {
                Ok(settled) => {
                    health.up();
                    return answer(settled);
                }
                Err(error) if error.kind() == StoreErrorKind::Refused => {
                    return Answer::Refused(error);
                }
                Err(error) => health.down(&error),
            }
            if phase(&self.phase) == Phase::Leaving {
                return Answer::GivenUp;
            }
            sleep(pause).await;
            pause = (pause * 2).min(RETRY_PAUSE.1);
        }
    }

    /// One settle. Where it is not answered at all the session ends: others go on from here, and
    /// what is written late meets their fence.
    async fn ask(&self, outcomes: &[Outcomes]) -> Result<Vec<Settled>, StoreError> {
        let mut settle = pin!(self.store.settle(self.member, outcomes, self.history));
        if let Ok(answer) = timeout(self.limit, &mut settle).await {
            return answer;
        }
        error!(limit = ?self.limit, "a settle is not answered: letting the lease go");
        self.lost.cancel();
        settle.await
    }
}

/// A session that is gone, by a panic, wants nothing more.
pub(crate) fn phase(phase: &watch::Receiver<Phase>) -> Phase {
    match phase.has_changed() {
        Ok(_) => *phase.borrow(),
        Err(_) => Phase::Leaving,
    }
}

fn answer(settled: Vec<Settled>) -> Answer {
    let mut gone = Vec::new();
    for settled in settled {
        match settled {
            Settled::Written { gone: more } => gone.extend(more),
            Settled::Lost => return Answer::Lost,
        }
    }
    Answer::Written(gone)
}
