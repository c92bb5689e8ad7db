use super::{SHARD, wait};
use chrono::{DateTime, NaiveDateTime, Utc};
use outbox_core::store::{Body, Row};
use sea_orm::{DbErr, QueryResult, TryGetable};
use uuid::Uuid;

/// Reads an event. What a foreign writer stored is input: a column that makes no sense is the
/// row's fault, and no error for the rows beside it.
pub(super) fn read(row: &QueryResult) -> Result<Row, DbErr> {
    let position = row.try_get("", "seq")?;
    let mut columns = Columns { row, fault: None };
    let id = columns.get("id", Uuid::nil());
    let mut event = Row::new(SHARD, position, id);
    event.aggregate = columns.get("aggregatetype", String::new());
    event.key = columns.get("aggregateid", None);
    event.topic = columns.get("topic", String::new());
    event.ordered = columns.get("ordered", true);
    event.attempts = columns.count("attempts");
    event.crashes = columns.count("crashes");
    event.retry_in = columns.get("retry_in", None::<f64>).map(wait);
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
        let occurred_at = self.time("occurred_at");
        let payload = self.get("payload", None::<String>);
        let headers = self.get("headers", None::<String>);
        Some(Body::new(payload?, headers?, occurred_at?))
    }

    fn time(&mut self, column: &str) -> Option<DateTime<Utc>> {
        let text: String = self.get(column, String::new());
        let time = parse_time(&text);
        if time.is_none() {
            self.blame(column, &format!("{text:?} is no time"));
        }
        time
    }

    fn blame(&mut self, column: &str, problem: &str) {
        self.fault
            .get_or_insert_with(|| format!("column {column}: {problem}"));
    }
}

/// An instant as SeaORM, SQLite or a foreign writer wrote it: with a zone, or in UTC without.
fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    let naive = |format| NaiveDateTime::parse_from_str(text, format).ok();
    naive("%Y-%m-%d %H:%M:%S%.f")
        .or_else(|| naive("%Y-%m-%dT%H:%M:%S%.f"))
        .map(|time| time.and_utc())
        .or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::parse_time;

    #[test]
    fn times_are_read_in_each_usual_form() {
        let expected = parse_time("2026-11-29 11:26:49.500");
        assert!(expected.is_some());
        assert_eq!(parse_time("2026-11-29T11:26:49.5"), expected);
        assert_eq!(parse_time("2026-11-29T11:26:49.5Z"), expected);
        assert_eq!(parse_time("2026-11-29T12:26:49.500+01:00"), expected);
        assert_eq!(parse_time("yesterday"), None);
    }
}
