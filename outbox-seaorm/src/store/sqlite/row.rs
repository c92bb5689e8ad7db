use super::{SHARD, Sqlite, wait};
use crate::store::row::{Column, Dialect, get};
use chrono::{DateTime, NaiveDateTime, Utc};
use outbox_core::store::Shard;
use sea_orm::{DbErr, QueryResult};
use std::time::Duration;

impl Dialect for Sqlite {
    fn shard(_: &QueryResult) -> Result<Shard, DbErr> {
        Ok(SHARD)
    }

    fn wait(row: &QueryResult, column: Column) -> Result<Option<Duration>, DbErr> {
        let seconds: Option<f64> = get(row, column)?;
        Ok(seconds.map(wait))
    }

    fn time(row: &QueryResult, column: Column) -> Result<DateTime<Utc>, String> {
        let text: String = get(row, column).map_err(|e| e.to_string())?;
        parse_time(&text).ok_or_else(|| format!("{text:?} is no time"))
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
