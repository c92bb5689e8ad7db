use super::{DispatcherView, EventFilter, EventState, EventStatus, Page, Span, page::limit, row};
use crate::store::{SeaOrmStore, StoreError};
use sea_orm::{DbErr, QueryResult};
use std::time::Duration;
use uuid::Uuid;

const ASKING: &str = "asking about events";

impl SeaOrmStore {
    pub(super) async fn status_of(&self, id: Uuid) -> Result<Vec<EventStatus>, StoreError> {
        let sql = include_str!("sql/status.sql");
        let rows = self.ask(ASKING, sql, [id.into()]).await?;
        let mut found = self.statuses(&rows)?;
        found.sort_by_key(|status| (status.state, status.position));
        Ok(found)
    }

    pub(super) async fn oldest_event(&self) -> Result<Option<(EventStatus, Duration)>, StoreError> {
        let rows = self.ask(ASKING, include_str!("sql/oldest.sql"), []).await?;
        let waits = rows.first().map(|row| row::count(row, "waits"));
        let status = self.statuses(&rows)?.pop();
        Ok(status.zip(waits.map(Duration::from_micros)))
    }

    pub(super) async fn list_failing(
        &self,
        filter: &EventFilter,
        attempts: u32,
        span: Span,
    ) -> Result<Page<EventStatus>, StoreError> {
        let bound = self.bound(ASKING, "outbox_event", span.after).await?;
        let values = [
            span.after.into(),
            bound.upto.into(),
            filter.topic.clone().into(),
            filter.aggregate.clone().into(),
            filter.key.clone().into(),
            i64::from(attempts).into(),
            limit(&span),
        ];
        let sql = include_str!("sql/failing.sql");
        let rows = self.ask(ASKING, sql, values).await?;
        let key = |status: &EventStatus| status.position.unwrap_or_default();
        let page = bound.page(&rows, span.most, status, key);
        page.map_err(|error| self.error(ASKING, error))
    }

    pub(super) async fn list_dispatchers(&self) -> Result<Vec<DispatcherView>, StoreError> {
        let sql = include_str!("sql/dispatchers.sql");
        let rows = self.ask("reading the dispatchers", sql, []).await?;
        let views = rows.iter().map(|found| {
            let mut view = DispatcherView::new(row::get(found, "id", Uuid::nil()));
            view.place = row::text(found, "place");
            view.handles = row::text(found, "handles");
            view.joined_at = row::time(found, "joined_at");
            view
        });
        Ok(views.collect())
    }

    fn statuses(&self, rows: &[QueryResult]) -> Result<Vec<EventStatus>, StoreError> {
        let statuses = rows.iter().map(status).collect::<Result<_, _>>();
        statuses.map_err(|error| self.error(ASKING, error))
    }
}

fn status(found: &QueryResult) -> Result<EventStatus, DbErr> {
    const STATES: [EventState; 6] = [
        EventState::Pending,
        EventState::Retrying,
        EventState::Blocked,
        EventState::Scheduled,
        EventState::Dead,
        EventState::Delivered,
    ];
    let word = row::text(found, "status");
    let state = STATES.iter().find(|state| state.as_str() == word);
    let state = state.copied().unwrap_or(EventState::Pending);
    let mut status = EventStatus::new(row::get(found, "id", Uuid::nil()), state);
    status.position = row::get(found, "seq", None);
    status.aggregate = row::text(found, "aggregatetype");
    status.key = row::get(found, "aggregateid", None);
    status.topic = row::text(found, "topic");
    status.attempts = u32::try_from(row::count(found, "attempts")).unwrap_or(0);
    status.next_attempt_at = row::get(found, "next_attempt_at", None);
    status.last_error = row::get(found, "last_error", None);
    status.created_at = row::time(found, "created_at");
    status.sent_at = row::get(found, "sent_at", None);
    Ok(status)
}
