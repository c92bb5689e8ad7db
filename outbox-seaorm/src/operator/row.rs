use super::{Letter, Operation};
use chrono::{DateTime, Utc};
use sea_orm::{DbBackend, DbErr, QueryResult, TryGetable, prelude::DateTimeUtc};
use uuid::Uuid;

/// A column of a row that people look at: what a foreign writer has stored is input, and one bad
/// column must not hide the others, nor the rows beside it.
pub(super) fn get<T: TryGetable>(row: &QueryResult, column: &str, otherwise: T) -> T {
    row.try_get("", column).unwrap_or(otherwise)
}

/// A number that is not negative.
pub(super) fn count(row: &QueryResult, column: &str) -> u64 {
    let number = row.try_get::<i64>("", column);
    let number = number.or_else(|_| row.try_get::<i32>("", column).map(i64::from));
    number.map_or(0, |number| u64::try_from(number).unwrap_or(0))
}

pub(super) fn time(row: &QueryResult, column: &str) -> DateTime<Utc> {
    get::<Option<DateTimeUtc>>(row, column, None).unwrap_or(DateTime::UNIX_EPOCH)
}

pub(super) fn text(row: &QueryResult, column: &str) -> String {
    get(row, column, String::new())
}

pub(super) fn letter(row: &QueryResult) -> Result<Letter, DbErr> {
    let mut letter = Letter::new(row.try_get("", "seq")?, get(row, "id", Uuid::nil()));
    letter.aggregate = text(row, "aggregatetype");
    letter.key = get(row, "aggregateid", None);
    letter.topic = text(row, "topic");
    letter.ordered = get(row, "ordered", true);
    letter.attempts = u32::try_from(get(row, "attempts", 0_i32)).unwrap_or(0);
    letter.reason = text(row, "reason");
    letter.error = text(row, "last_error");
    letter.blocks = get(row, "blocks_aggregate", false);
    letter.created_at = time(row, "created_at");
    letter.dead_at = time(row, "dead_at");
    Ok(letter)
}

pub(super) fn operation(row: &QueryResult) -> Result<Operation, DbErr> {
    let mut operation = Operation::new(row.try_get("", "id")?, text(row, "act"));
    operation.who = text(row, "who");
    operation.why = text(row, "why");
    operation.topic = get(row, "topic", None);
    operation.event = get(row, "event_id", None);
    operation.position = get(row, "seq", None);
    operation.events = count(row, "events");
    operation.done_at = time(row, "done_at");
    Ok(operation)
}

/// The row itself, where its key has several columns.
pub(super) fn whole(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "ctid",
        _ => "rowid",
    }
}

/// The shard that a row belongs to; SQLite has one.
pub(super) fn shard(row: &QueryResult) -> i64 {
    match row.try_get::<i16>("", "shard") {
        Ok(shard) => shard.into(),
        Err(_) => get(row, "shard", 0),
    }
}
