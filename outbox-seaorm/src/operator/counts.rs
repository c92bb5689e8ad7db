use super::{Count, EventState, SCAN, TopicCount, row, transaction::Asking};
use crate::store::{SeaOrmStore, StoreError};
use sea_orm::{DbBackend, DbErr, QueryResult, Value};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A table whose rows are events.
struct Counted {
    table: &'static str,
    key: Key,
    /// What tells events that have failed from those that have not.
    attempts: &'static str,
    /// The state of all that has not failed.
    state: EventState,
}

/// What the rows of a table are sorted by.
#[derive(Clone, Copy)]
enum Key {
    Position,
    Id,
}

const TABLES: [Counted; 4] = [
    Counted {
        table: "outbox_event",
        key: Key::Position,
        attempts: "t.attempts",
        state: EventState::Pending,
    },
    Counted {
        table: "outbox_delayed",
        key: Key::Id,
        attempts: "0",
        state: EventState::Scheduled,
    },
    Counted {
        table: "outbox_dead",
        key: Key::Position,
        attempts: "0",
        state: EventState::Dead,
    },
    Counted {
        table: "outbox_delivered",
        key: Key::Position,
        attempts: "0",
        state: EventState::Delivered,
    },
];

/// Where a table begins and ends.
struct Ends {
    first: u128,
    last: u128,
    /// There are more rows than are counted.
    more: bool,
}

/// Which rows of a table are looked at.
struct Sample {
    /// In so many places,
    places: u8,
    /// so many rows each,
    each: usize,
    /// and the last ones.
    last: usize,
}

/// All of it. Where there is more, it was not that large a moment ago.
const WHOLE: Sample = Sample {
    places: 1,
    each: SCAN + 1,
    last: 0,
};

/// Evenly spread: what stands still is at the front, what has just come is at the end.
const SPREAD: Sample = Sample {
    places: 16,
    each: 128,
    last: 512,
};

impl SeaOrmStore {
    pub(super) async fn count_all(&self) -> Result<Vec<TopicCount>, StoreError> {
        let counts = self.try_counting().await;
        counts.map_err(|error| self.error("counting events", error))
    }

    async fn try_counting(&self) -> Result<Vec<TopicCount>, DbErr> {
        let (asking, mut all) = (self.asking().await?, BTreeMap::new());
        for counted in &TABLES {
            asking.count(counted, &mut all).await?;
        }
        asking.end().await?;
        let counts = all.into_iter();
        let count = |((topic, state), count)| TopicCount::new(topic, state, count);
        Ok(counts.map(count).collect())
    }
}

impl Asking<'_> {
    async fn count(
        &self,
        counted: &Counted,
        all: &mut BTreeMap<(String, EventState), Count>,
    ) -> Result<(), DbErr> {
        let sql = counted.name(include_str!("sql/ends.sql"));
        let ends = self.rows(&sql, [number(SCAN)]).await?;
        let ends = ends.first().map_or(Ok(None), |row| counted.key.ends(row));
        let Some(ends) = ends? else {
            return Ok(());
        };
        let sample = if ends.more { SPREAD } else { WHOLE };
        let rows = self.sample(counted, &ends, &sample).await?;
        let passed = rows.iter().map(|found| row::count(found, "number")).sum();
        let whole = match ends.more || passed > SCAN as u64 {
            true => Some(self.estimate(counted).await?.max(SCAN as u64)),
            false => None,
        };
        for found in rows {
            let state = match row::count(&found, "retrying") {
                0 => counted.state,
                _ => EventState::Retrying,
            };
            let number = row::count(&found, "number");
            let count = whole.map_or(Count::Exact(number), |whole| share(number, passed, whole));
            all.insert((row::text(&found, "topic"), state), count);
        }
        Ok(())
    }

    /// How many rows there are of each topic, among some of a table's.
    async fn sample(
        &self,
        counted: &Counted,
        ends: &Ends,
        sample: &Sample,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let step = ends.last.saturating_sub(ends.first) / u128::from(sample.places);
        let mut values = vec![number(sample.each), number(sample.last)];
        let mut places = String::new();
        for place in 0..sample.places {
            values.push(counted.key.value(ends.first + step * u128::from(place)));
            let parameter = format!("${}", values.len());
            places += &include_str!("sql/sample_place.sql").replace("{place}", &parameter);
        }
        let sql = include_str!("sql/sample.sql").replace("{places}", &places);
        self.rows(&counted.name(&sql), values).await
    }

    /// How many rows a large table has, as its database believes.
    async fn estimate(&self, counted: &Counted) -> Result<u64, DbErr> {
        let (sql, values) = match self.store.db().get_database_backend() {
            DbBackend::Postgres => (include_str!("sql/estimate_postgres.sql"), vec![]),
            DbBackend::MySql => {
                let names = self.store.outbox().names();
                let schema = names.schema().map(str::to_owned);
                let values = vec![names.bare(counted.table).into(), schema.into()];
                (include_str!("sql/estimate_mysql.sql"), values)
            }
            _ => (include_str!("sql/estimate_sqlite.sql"), vec![]),
        };
        let rows = self.rows(&counted.name(sql), values).await?;
        Ok(rows.first().map_or(0, |found| row::count(found, "number")))
    }
}

impl Counted {
    fn name(&self, sql: &str) -> String {
        let key = match self.key {
            Key::Position => "seq",
            Key::Id => "id",
        };
        let sql = sql.replace("{table}", self.table).replace("{key}", key);
        sql.replace("{attempts}", self.attempts)
    }
}

/// Keys as numbers, between which others lie.
impl Key {
    fn ends(self, row: &QueryResult) -> Result<Option<Ends>, DbErr> {
        let ends = self.number(row, "first_key")?;
        let ends = ends.zip(self.number(row, "last_key")?);
        let more = row::count(row, "more") > 0;
        Ok(ends.map(|(first, last)| Ends { first, last, more }))
    }

    fn number(self, row: &QueryResult, column: &str) -> Result<Option<u128>, DbErr> {
        Ok(match self {
            Self::Position => {
                let position: Option<i64> = row.try_get("", column)?;
                position.map(|position| u128::try_from(position).unwrap_or(0))
            }
            Self::Id => row
                .try_get::<Option<Uuid>>("", column)?
                .map(|id| id.as_u128()),
        })
    }

    fn value(self, number: u128) -> Value {
        match self {
            Self::Position => i64::try_from(number).unwrap_or(i64::MAX).into(),
            Self::Id => Uuid::from_u128(number).into(),
        }
    }
}

/// The part of a whole that a sample shows: rounded, since it is an estimate.
fn share(number: u64, passed: u64, whole: u64) -> Count {
    Count::About((number as f64 / passed as f64 * whole as f64) as u64)
}

fn number(number: usize) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}
