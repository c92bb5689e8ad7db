use super::{MySql, wait};
use crate::store::row::{Column, Dialect, column, get};
use chrono::{DateTime, NaiveDateTime, Utc};
use sea_orm::{DbErr, QueryResult};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

impl Dialect for MySql {
    /// A fetch has the server where an event has its payload. Another server is another revision:
    /// it may have other events at the same positions.
    fn revision(row: &QueryResult) -> Result<i64, DbErr> {
        let revision: i64 = get(row, column::SEQ)?;
        let server: String = get(row, column::PAYLOAD)?;
        let mut hasher = DefaultHasher::new();
        (revision, server).hash(&mut hasher);
        Ok(hasher.finish().cast_signed())
    }

    fn wait(row: &QueryResult, column: Column) -> Result<Option<Duration>, DbErr> {
        let micros: Option<i64> = get(row, column)?;
        Ok(micros.map(wait))
    }

    /// A zero date, which a server without strict mode takes, is no time.
    fn time(row: &QueryResult, column: Column) -> Result<DateTime<Utc>, String> {
        let time: Option<NaiveDateTime> = get(row, column).map_err(|e| e.to_string())?;
        let time = time.ok_or_else(|| "no time".to_owned())?;
        Ok(time.and_utc())
    }
}
