use super::{
    Count, DispatcherView, EventFilter, EventState, EventStatus, Page, SCAN, Span, TopicCount,
    page::limit, row,
};
use crate::store::{SeaOrmStore, StoreError};
use sea_orm::{DbBackend, DbErr, QueryResult};
use std::{collections::BTreeMap, time::Duration};
use uuid::Uuid;

const ASKING: &str = "asking about events";

impl SeaOrmStore {
    pub(super) async fn status_of(&self, id: Uuid) -> Result<Vec<EventStatus>, StoreError> {
        let mut found = Vec::new();
        for sql in [
            include_str!("sql/status_event.sql"),
            include_str!("sql/status_delayed.sql"),
            include_str!("sql/status_dead.sql"),
            include_str!("sql/status_delivered.sql"),
        ] {
            let rows = self.ask(ASKING, sql, [id.into()]).await?;
            let mut statuses = self.statuses(&rows)?;
            statuses.sort_by_key(|status| status.position);
            found.extend(statuses);
        }
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

    pub(super) async fn count_all(&self) -> Result<Vec<TopicCount>, StoreError> {
        let mut all = BTreeMap::new();
        for (table, attempts, key, state) in [
            ("outbox_event", "t.attempts", "seq", None),
            ("outbox_delayed", "0", "id", Some(EventState::Scheduled)),
            ("outbox_dead", "0", "seq", Some(EventState::Dead)),
            ("outbox_delivered", "0", "seq", Some(EventState::Delivered)),
        ] {
            let sample = self.sample(table, attempts, key).await?;
            let passed: u64 = sample.iter().map(|(_, _, number)| number).sum();
            let most = u64::try_from(SCAN).unwrap_or(u64::MAX);
            let whole = match passed > most {
                true => Some(self.estimate(table, key).await?.max(passed)),
                false => None,
            };
            for (topic, retrying, number) in sample {
                let retried = match retrying {
                    true => EventState::Retrying,
                    false => EventState::Pending,
                };
                let count = whole.map_or(Count::Exact(number), |whole| {
                    let share = number as f64 / passed as f64;
                    // Rounded: it is an estimate.
                    Count::About((share * whole as f64) as u64)
                });
                all.insert((topic, state.unwrap_or(retried)), count);
            }
        }
        let counts = all.into_iter();
        let count = |((topic, state), count)| TopicCount::new(topic, state, count);
        Ok(counts.map(count).collect())
    }

    /// The topics of the first rows of a table, with whether they have failed; where there are more
    /// than a look passes, of the last ones too.
    async fn sample(
        &self,
        table: &str,
        attempts: &str,
        key: &str,
    ) -> Result<Vec<(String, bool, u64)>, StoreError> {
        let half = SCAN / 2;
        for (first, last) in [(SCAN + 1, 0), (half + 1, half)] {
            let numbers = [first, last].map(|n| i64::try_from(n).unwrap_or(i64::MAX).into());
            let sql = include_str!("sql/sample.sql").replace("{table}", table);
            let sql = sql.replace("{attempts}", attempts).replace("{key}", key);
            let rows = self.ask(ASKING, &sql, numbers).await?;
            let sample: Vec<_> = rows
                .iter()
                .map(|found| {
                    let retrying = row::count(found, "retrying") > 0;
                    let number = row::count(found, "number");
                    (row::text(found, "topic"), retrying, number)
                })
                .collect();
            let passed: u64 = sample.iter().map(|(_, _, number)| number).sum();
            if passed <= SCAN as u64 || last > 0 {
                return Ok(sample);
            }
        }
        Ok(Vec::new())
    }

    /// How many rows a large table has, as its database believes.
    async fn estimate(&self, table: &str, key: &str) -> Result<u64, StoreError> {
        let (sql, names) = match self.db().get_database_backend() {
            DbBackend::Postgres => (include_str!("sql/estimate_postgres.sql"), None),
            DbBackend::MySql => {
                let names = self.outbox().names();
                let table = names.bare(table);
                let schema = names.schema().map(str::to_owned);
                (
                    include_str!("sql/estimate_mysql.sql"),
                    Some((table, schema)),
                )
            }
            _ => (include_str!("sql/estimate_sqlite.sql"), None),
        };
        let sql = sql.replace("{table}", table).replace("{key}", key);
        let rows = match names {
            Some((table, schema)) => {
                let values = [table.into(), schema.into()];
                self.ask(ASKING, &sql, values).await?
            }
            None => self.ask(ASKING, &sql, []).await?,
        };
        Ok(rows.first().map_or(0, |found| row::count(found, "number")))
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
    status.attempts = u32::try_from(row::get(found, "attempts", 0_i32)).unwrap_or(0);
    status.next_attempt_at = row::get(found, "next_attempt_at", None);
    status.last_error = row::get(found, "last_error", None);
    status.created_at = row::time(found, "created_at");
    status.sent_at = row::get(found, "sent_at", None);
    Ok(status)
}
