use super::{
    By, HistoryFilter, Replayed, SCAN, row,
    transaction::{Transaction, Tries},
};
use crate::store::{Position, SeaOrmStore, StoreError};
use chrono::{DateTime, Utc};
use sea_orm::{DbBackend, DbErr, Value};
use uuid::Uuid;

impl SeaOrmStore {
    pub(super) async fn replay_step(
        &self,
        replay: Uuid,
        filter: &HistoryFilter,
        (most, limit): (u64, usize),
        by: &By,
    ) -> Result<Replayed, StoreError> {
        let mut tries = Tries::default();
        loop {
            match self.try_replaying(replay, filter, (most, limit), by).await {
                Ok(replayed) => return Ok(replayed),
                Err(error) => tries.again(self.error("replaying", error)).await?,
            }
        }
    }

    /// The replay's record is locked, and says behind which position of the history to go on: no
    /// event is brought back twice, whoever calls again and whenever.
    async fn try_replaying(
        &self,
        replay: Uuid,
        filter: &HistoryFilter,
        (most, limit): (u64, usize),
        by: &By,
    ) -> Result<Replayed, DbErr> {
        let txn = self.start().await?;
        let (after, before) = txn.replay_record(replay, filter, by).await?;
        let left = usize::try_from(most.saturating_sub(before)).unwrap_or(usize::MAX);
        let limit = limit.min(left);
        if limit == 0 {
            txn.roll_back().await?;
            return Ok(Replayed::new(replay, before, after, false));
        }
        let end = txn.replay_bound(after).await?;
        let upto = end.unwrap_or(Position::MAX);
        let filters = |first, last| self.filters(filter, first, last);
        let mut values: Vec<Value> = filters(after, upto);
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        let found = include_str!("sql/replay_find.sql");
        let found = txn.rows(found, values).await?;
        let last: Option<Position> = found.last().map(|row| row.try_get("", "seq")).transpose()?;
        let full = found.len() == limit;
        let mut events = before;
        if let Some(last) = last {
            let mut values = filters(after, last);
            values.push(replay.to_string().into());
            let emit = include_str!("sql/replay_emit.sql");
            events += txn.change(emit, values).await?;
        }
        // The look may have passed what does not match, to its end.
        let now = match (last.filter(|_| full), end) {
            (Some(last), _) => last,
            (None, Some(end)) => end,
            (None, None) => last.unwrap_or(after),
        };
        let total = i64::try_from(events).unwrap_or(i64::MAX);
        let moved = [replay.into(), now.into(), total.into(), 0_i64.into()];
        txn.change(include_str!("sql/replay_moved.sql"), moved)
            .await?;
        txn.commit().await?;
        let ended = end.is_none() && !full;
        Ok(Replayed::new(replay, events, now, ended))
    }

    /// The parameters by which events of the history are chosen.
    fn filters(&self, filter: &HistoryFilter, after: Position, upto: Position) -> Vec<Value> {
        vec![
            after.into(),
            upto.into(),
            filter.topic.clone().into(),
            filter.aggregate.clone().into(),
            filter.key.clone().into(),
            self.optional_instant(filter.more.since),
            self.optional_instant(filter.more.until),
        ]
    }

    fn optional_instant(&self, time: Option<DateTime<Utc>>) -> Value {
        match (time, self.db().get_database_backend()) {
            (Some(time), _) => self.instant(time),
            (None, DbBackend::MySql) => Value::ChronoDateTime(None),
            (None, _) => Value::ChronoDateTimeUtc(None),
        }
    }
}

impl Transaction<'_> {
    /// Locks the replay's record, which is made where it is not there; returns how far it has come.
    async fn replay_record(
        &self,
        replay: Uuid,
        filter: &HistoryFilter,
        by: &By,
    ) -> Result<(Position, u64), DbErr> {
        if let Some(known) = self.known_replay(replay).await? {
            return Ok(known);
        }
        let values = [
            replay.into(),
            by.who.as_str().into(),
            by.why.as_str().into(),
            filter.topic.clone().into(),
        ];
        let start = include_str!("sql/replay_start.sql");
        self.change(start, values).await?;
        let taken = || DbErr::RecordNotInserted;
        self.known_replay(replay).await?.ok_or_else(taken)
    }

    /// Locks the replay's record, where it is there.
    async fn known_replay(&self, replay: Uuid) -> Result<Option<(Position, u64)>, DbErr> {
        let lock = include_str!("sql/replay_lock.sql");
        let found = self.row(lock, [replay.into()]).await?;
        Ok(found.map(|found| (row::get(&found, "seq", 0), row::count(&found, "events"))))
    }

    /// Where the look at the history ends, if not at its end.
    async fn replay_bound(&self, after: Position) -> Result<Option<Position>, DbErr> {
        let sql = include_str!("sql/page_end.sql");
        let sql = sql.replace("{table}", "outbox_delivered");
        let sql = sql.replace("{key}", "seq");
        let last = i64::try_from(SCAN).unwrap_or(i64::MAX) - 1;
        let found = self.row(&sql, [after.into(), last.into()]).await?;
        found.map(|row| row.try_get("", "key")).transpose()
    }
}
