use super::{Postgres, wait};
use crate::store::row::Dialect;
use chrono::{DateTime, NaiveDateTime, Utc};
use sea_orm::{DbErr, QueryResult};
use std::time::Duration;

impl Dialect for Postgres {
    /// A restarted server may have come up elsewhere, with other events at the same positions: its
    /// start is part of the revision. Two revisions of one server stay different, as they are small.
    fn revision(row: &QueryResult) -> Result<i64, DbErr> {
        Ok(revision(
            row.try_get("", "seq")?,
            row.try_get("", "started")?,
        ))
    }

    fn wait(row: &QueryResult, column: &str) -> Result<Option<Duration>, DbErr> {
        let seconds: Option<f64> = row.try_get("", column)?;
        Ok(seconds.map(wait))
    }

    fn time(row: &QueryResult, column: &str) -> Result<DateTime<Utc>, String> {
        let time: Option<NaiveDateTime> = row.try_get("", column).map_err(|e| e.to_string())?;
        let time = time.ok_or_else(|| "no year from 1 to 9999".to_owned())?;
        Ok(time.and_utc())
    }
}

fn revision(revision: i64, started: i64) -> i64 {
    started.rotate_left(20) ^ revision
}

#[cfg(test)]
mod tests {
    use super::revision;

    #[test]
    fn a_restart_is_another_revision() {
        let (started, restarted) = (1_764_427_500_000_000, 1_764_427_500_000_001);
        assert_ne!(revision(7, started), revision(7, restarted));
        assert_ne!(revision(7, started), revision(8, started));
    }
}
