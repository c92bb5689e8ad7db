use super::{Bulk, HistoryFilter, Operator, OperatorStore};
use crate::store::{Position, StoreError};
use tokio::time::sleep;
use uuid::Uuid;

/// How far a replay has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replayed {
    /// The replay's id: the header `replay_id` of its events, and its record's id.
    pub id: Uuid,
    /// How many events it has brought back in all.
    pub events: u64,
    /// Behind which position of the history it goes on.
    pub after: Position,
    /// There is nothing more that matches.
    pub ended: bool,
}

impl Replayed {
    /// How far this replay has come.
    #[must_use]
    pub fn new(id: Uuid, events: u64, after: Position, ended: bool) -> Self {
        Self {
            id,
            events,
            after,
            ended,
        }
    }
}

/// Replays.
impl<S: OperatorStore> Operator<S> {
    /// Emits delivered events anew, in their old order, no more and no faster than `bulk` says.
    /// Each gets a new place and keeps its id: whoever folds repetitions by it must be told, by the
    /// header `replay_id`, that these are meant.
    ///
    /// # Errors
    /// When the database cannot do it. What was replayed before is; the record of the replay has
    /// its id, with which [`replay_on`](Self::replay_on) goes on.
    ///
    /// # Cancel safety
    /// Dropping the future ends it between two transactions, or rolls one back.
    pub async fn replay(
        &self,
        filter: &HistoryFilter,
        bulk: Bulk,
        why: &str,
    ) -> Result<Replayed, StoreError> {
        self.replay_on(Uuid::now_v7(), filter, bulk, why).await
    }

    /// Goes on with a replay that was interrupted, or starts one under an id of one's own: no event
    /// is brought back twice by it, for as long as its record is kept. `bulk.most` is for the replay in
    /// all, with what it has brought back before: after 10,000 events, `Bulk::new(20_000)` brings back
    /// 10,000 more.
    ///
    /// # Errors
    /// As [`replay`](Self::replay); and when the id is that of a record of something else.
    ///
    /// # Cancel safety
    /// As [`replay`](Self::replay).
    pub async fn replay_on(
        &self,
        replay: Uuid,
        filter: &HistoryFilter,
        bulk: Bulk,
        why: &str,
    ) -> Result<Replayed, StoreError> {
        let (by, most) = (self.by(why), u64::try_from(bulk.most).unwrap_or(u64::MAX));
        let filter = &filter.clone().storable();
        let mut before = None;
        loop {
            let batch = bulk.batch();
            let step = self.store.replay(replay, filter, most, batch, &by);
            let now = step.await?;
            self.store.wake().notify();
            if now.ended || now.events >= most {
                return Ok(now);
            }
            // Of the first step it is not known how much of it there was before.
            let events = before.map_or(batch, |before| {
                usize::try_from(now.events.saturating_sub(before)).unwrap_or(batch)
            });
            before = Some(now.events);
            sleep(bulk.pause(events)).await;
        }
    }
}
