use super::wait;
use chrono::NaiveDateTime;
use outbox_core::store::{Body, Row};
use sea_orm::{DbErr, QueryResult};

/// Reads an event. The types are the database's, so that little can be wrong with a row; what a
/// foreign writer stored beyond is the row's fault, and no error for the rows beside it.
pub(super) fn read(row: &QueryResult) -> Result<Row, DbErr> {
    let (shard, position) = (row.try_get("", "shard")?, row.try_get("", "seq")?);
    let mut event = Row::new(shard, position, row.try_get("", "id")?);
    event.aggregate = row.try_get("", "aggregatetype")?;
    event.key = row.try_get("", "aggregateid")?;
    event.topic = row.try_get("", "topic")?;
    event.ordered = row.try_get("", "ordered")?;
    let retry_in: Option<f64> = row.try_get("", "retry_in")?;
    event.retry_in = retry_in.map(wait);
    let size: i64 = row.try_get("", "size")?;
    event.size = usize::try_from(size).unwrap_or(0);

    let mut fault = None;
    let mut blame = |column, problem| {
        fault.get_or_insert_with(|| format!("column {column}: {problem}"));
    };
    let mut count = |column| {
        let count: i32 = row.try_get("", column)?;
        Ok::<_, DbErr>(u32::try_from(count).unwrap_or_else(|error| {
            blame(column, error.to_string());
            0
        }))
    };
    event.attempts = count("attempts")?;
    event.crashes = count("crashes")?;
    let occurred_at: Option<NaiveDateTime> = row.try_get("", "occurred_at")?;
    if occurred_at.is_none() {
        blame("occurred_at", "no year from 1 to 9999".to_owned());
    }
    let payload: Option<String> = row.try_get("", "payload")?;
    let headers: Option<String> = row.try_get("", "headers")?;
    if let (Some(payload), Some(headers), Some(time)) = (payload, headers, occurred_at) {
        event.body = Some(Body::new(payload, headers, time.and_utc()));
    }
    event.fault = fault;
    Ok(event)
}
