use super::wait;
use chrono::NaiveDateTime;
use outbox_core::store::{Body, Row};
use sea_orm::{DbErr, QueryResult, TryGetable};
use uuid::Uuid;

/// Reads an event. What a foreign writer stored is input: a column that makes no sense is the
/// row's fault, and no error for the rows beside it.
pub(super) fn read(row: &QueryResult) -> Result<Row, DbErr> {
    let (shard, position) = (row.try_get("", "shard")?, row.try_get("", "seq")?);
    let mut columns = Columns { row, fault: None };
    let id = columns.get("id", Uuid::nil());
    let mut event = Row::new(shard, position, id);
    event.aggregate = columns.get("aggregatetype", String::new());
    event.key = columns.get("aggregateid", None);
    event.topic = columns.get("topic", String::new());
    event.ordered = columns.get("ordered", true);
    event.attempts = columns.count("attempts");
    event.crashes = columns.count("crashes");
    event.retry_in = columns.get("retry_in", None::<i64>).map(wait);
    event.size = usize::try_from(columns.get("size", 0_i64)).unwrap_or(0);
    event.body = columns.body();
    event.fault = columns.fault;
    Ok(event)
}

struct Columns<'a> {
    row: &'a QueryResult,
    /// The first thing that is wrong.
    fault: Option<String>,
}

impl Columns<'_> {
    fn get<T: TryGetable>(&mut self, column: &str, otherwise: T) -> T {
        self.row.try_get("", column).unwrap_or_else(|error| {
            self.blame(column, &error.to_string());
            otherwise
        })
    }

    fn count(&mut self, column: &str) -> u32 {
        let count: i64 = self.get(column, 0);
        u32::try_from(count).unwrap_or_else(|error| {
            self.blame(column, &error.to_string());
            0
        })
    }

    fn body(&mut self) -> Option<Body> {
        // A zero date, which a server without strict mode takes, is no time.
        let occurred_at: Option<NaiveDateTime> = self.get("occurred_at", None);
        if occurred_at.is_none() {
            self.blame("occurred_at", "no time");
        }
        let payload = self.get("payload", None::<String>);
        let headers = self.get("headers", None::<String>);
        Some(Body::new(payload?, headers?, occurred_at?.and_utc()))
    }

    fn blame(&mut self, column: &str, problem: &str) {
        self.fault
            .get_or_insert_with(|| format!("column {column}: {problem}"));
    }
}
