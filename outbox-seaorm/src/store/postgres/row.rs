use super::{Postgres, wait};
use crate::store::row::{Column, Dialect, column, get};
use chrono::{DateTime, NaiveDateTime, Utc};
use sea_orm::{DbErr, QueryResult};
use std::time::Duration;

/// What a fetch has of the server and its snapshot, in the row of each shard.
pub(super) const IS_SHARD: Column = (14, "is_shard");
pub(super) const STARTED: Column = (15, "started");
pub(super) const OLDEST: Column = (16, "oldest");
pub(super) const LATEST: Column = (17, "latest");
pub(super) const AGE: Column = (18, "age");
/// The positions between floor and scan.
pub(super) const AGAIN: Column = (19, "again");

impl Dialect for Postgres {
    /// A restarted server may have come up elsewhere, with other events at the same positions: its
    /// start is part of the revision. Two revisions of one server stay different, as they are small.
    fn revision(row: &QueryResult) -> Result<i64, DbErr> {
        Ok(revision(get(row, column::SEQ)?, get(row, STARTED)?))
    }

    fn wait(row: &QueryResult, column: Column) -> Result<Option<Duration>, DbErr> {
        let seconds: Option<f64> = get(row, column)?;
        Ok(seconds.map(wait))
    }

    fn time(row: &QueryResult, column: Column) -> Result<DateTime<Utc>, String> {
        let time: Option<NaiveDateTime> = get(row, column).map_err(|e| e.to_string())?;
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
