use super::{
    By, EventFilter, Page, Scheduled, Span,
    letters::micros,
    page::{Bound, limit},
    row,
    transaction::Tries,
};
use crate::store::{SeaOrmStore, StoreError};
use chrono::{DateTime, Utc};
use outbox_core::Due;
use sea_orm::{DbBackend, DbErr, QueryResult, Value};
use uuid::Uuid;

const READING: &str = "reading delayed events";

impl SeaOrmStore {
    pub(super) async fn list_scheduled(
        &self,
        filter: &EventFilter,
        span: Span<Uuid>,
    ) -> Result<Page<Scheduled, Uuid>, StoreError> {
        let after: Value = span.after.into();
        let end = self.end(READING, "outbox_delayed", "id", after.clone());
        let end: Option<Uuid> = end.await?;
        let bound = Bound {
            upto: end.unwrap_or(Uuid::max()),
            more: end.is_some(),
        };
        let values = [
            after,
            bound.upto.into(),
            filter.topic.clone().into(),
            filter.aggregate.clone().into(),
            filter.key.clone().into(),
            limit(&span),
        ];
        let sql = include_str!("sql/scheduled.sql");
        let rows = self.ask(READING, sql, values).await?;
        let page = bound.page(&rows, span.most, scheduled, |event| event.id);
        page.map_err(|error| self.error(READING, error))
    }

    /// Deletes a delayed event, or gives it another time.
    pub(super) async fn change_delayed(
        &self,
        id: Uuid,
        due: Option<Due>,
        by: &By,
    ) -> Result<bool, StoreError> {
        let context = match due {
            Some(_) => "rescheduling an event",
            None => "cancelling an event",
        };
        let mut tries = Tries::default();
        loop {
            match self.try_changing(id, due, by).await {
                Ok(changed) => return Ok(changed),
                Err(error) => tries.again(self.error(context, error)).await?,
            }
        }
    }

    /// Only the table of delayed events is touched: what has moved is out of reach.
    async fn try_changing(&self, id: Uuid, due: Option<Due>, by: &By) -> Result<bool, DbErr> {
        let txn = self.start().await?;
        let lock = include_str!("sql/lock_delayed.sql");
        let Some(found) = txn.row(lock, [id.into()]).await? else {
            txn.roll_back().await?;
            return Ok(false);
        };
        let after = include_str!("sql/reschedule_after.sql");
        let at = include_str!("sql/reschedule_at.sql");
        match due {
            None => {
                let cancel = include_str!("sql/cancel.sql");
                txn.change(cancel, [id.into()]).await?
            }
            Some(Due::Now) => txn.change(after, [id.into(), 0_i64.into()]).await?,
            Some(Due::After(delay)) => {
                let values = [id.into(), micros(delay).into()];
                txn.change(after, values).await?
            }
            Some(Due::At(time)) => txn.change(at, [id.into(), self.instant(time)]).await?,
        };
        let act = match due {
            Some(_) => "reschedule",
            None => "cancel",
        };
        let topic = Some(row::text(&found, "topic"));
        txn.record(act, by, topic, Some(id), None).await?;
        txn.commit().await?;
        Ok(true)
    }

    /// A time as the database compares it with its own.
    pub(super) fn instant(&self, time: DateTime<Utc>) -> Value {
        match self.db().get_database_backend() {
            // What has a zone would be converted to the session's.
            DbBackend::MySql => time.naive_utc().into(),
            _ => time.into(),
        }
    }
}

fn scheduled(found: &QueryResult) -> Result<Scheduled, DbErr> {
    let mut event = Scheduled::new(found.try_get("", "id")?);
    event.aggregate = row::text(found, "aggregatetype");
    event.key = row::get(found, "aggregateid", None);
    event.topic = row::text(found, "topic");
    event.due_at = row::time(found, "due_at");
    event.created_at = row::time(found, "created_at");
    Ok(event)
}
