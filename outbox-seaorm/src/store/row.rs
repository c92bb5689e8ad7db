use chrono::{DateTime, Utc};
use outbox_core::store::{
    Blocked, Body, Liveness, MemberView, Owned, Position, Row, Seen, Shard, ShardView,
};
use sea_orm::{DbErr, QueryResult, TryGetable};
use std::time::Duration;
use uuid::Uuid;

/// What differs between the databases when their rows are read.
pub(super) trait Dialect {
    /// The shard that a row belongs to.
    fn shard(row: &QueryResult) -> Result<Shard, DbErr> {
        row.try_get("", "shard")
    }

    /// The revision of a shard in its row of a fetch, where an event has its position.
    fn revision(row: &QueryResult) -> Result<i64, DbErr> {
        row.try_get("", "seq")
    }

    /// The time until an instant, which may have passed; as the statement computed it.
    fn wait(row: &QueryResult, column: &str) -> Result<Option<Duration>, DbErr>;

    /// An instant, or what is wrong with it.
    fn time(row: &QueryResult, column: &str) -> Result<DateTime<Utc>, String>;
}

/// Reads an event. What a foreign writer stored is input: a column that makes no sense is the
/// row's fault, and no error for the rows beside it.
pub(super) fn event<D: Dialect>(row: &QueryResult) -> Result<Row, DbErr> {
    let (shard, position): (_, Position) = (D::shard(row)?, row.try_get("", "seq")?);
    let mut columns = Columns { row, fault: None };
    let id = columns.get("id", Uuid::nil());
    let mut event = Row::new(shard, position, id);
    event.aggregate = columns.get("aggregatetype", String::new());
    event.key = columns.get("aggregateid", None);
    event.topic = columns.get("topic", String::new());
    event.ordered = columns.get("ordered", true);
    event.attempts = columns.count("attempts");
    event.crashes = columns.count("crashes");
    event.retry_in = columns.or_blame("retry_in", D::wait(row, "retry_in"), None);
    event.size = usize::try_from(columns.get("size", 0_i64)).unwrap_or(0);
    let occurred_at = D::time(row, "occurred_at").map(Some);
    let occurred_at = columns.or_blame("occurred_at", occurred_at, None);
    event.body = columns.body(occurred_at);
    event.fault = columns.fault;
    Ok(event)
}

/// Reads the row that a fetch has for each shard.
pub(super) fn seen<D: Dialect>(row: &QueryResult) -> Result<Seen, DbErr> {
    let due_in = D::wait(row, "retry_in")?;
    Ok(Seen::new(D::shard(row)?, D::revision(row)?, due_in))
}

pub(super) fn shard_view(row: &QueryResult) -> Result<ShardView, DbErr> {
    Ok(ShardView::new(
        row.try_get("", "shard")?,
        row.try_get("", "epoch")?,
        row.try_get("", "owner")?,
        row.try_get("", "held")?,
    ))
}

pub(super) fn owned<D: Dialect>(row: &QueryResult) -> Result<Owned, DbErr> {
    Ok(Owned::new(
        D::shard(row)?,
        row.try_get("", "epoch")?,
        row.try_get("", "suspect_to")?,
    ))
}

pub(super) fn blocked<D: Dialect>(row: &QueryResult) -> Result<Blocked, DbErr> {
    Ok(Blocked::new(
        D::shard(row)?,
        row.try_get("", "seq")?,
        row.try_get("", "aggregatetype")?,
        row.try_get("", "aggregateid")?,
    ))
}

/// A member whose lease the database judges.
pub(super) fn member(row: &QueryResult) -> Result<MemberView, DbErr> {
    let liveness = if row.try_get("", "alive")? {
        Liveness::Alive
    } else {
        Liveness::Expired
    };
    member_that_is(row, liveness)
}

pub(super) fn member_that_is(row: &QueryResult, liveness: Liveness) -> Result<MemberView, DbErr> {
    let lease_until: String = row.try_get("", "lease_until")?;
    Ok(MemberView::new(
        row.try_get("", "id")?,
        lease_until,
        liveness,
    ))
}

struct Columns<'a> {
    row: &'a QueryResult,
    /// The first thing that is wrong.
    fault: Option<String>,
}

impl Columns<'_> {
    fn get<T: TryGetable>(&mut self, column: &str, otherwise: T) -> T {
        let value = self.row.try_get("", column);
        self.or_blame(column, value, otherwise)
    }

    fn count(&mut self, column: &str) -> u32 {
        let count: i32 = self.get(column, 0);
        self.or_blame(column, u32::try_from(count), 0)
    }

    fn body(&mut self, occurred_at: Option<DateTime<Utc>>) -> Option<Body> {
        let payload = self.get("payload", None::<String>);
        let headers = self.get("headers", None::<String>);
        Some(Body::new(payload?, headers?, occurred_at?))
    }

    fn or_blame<T>(&mut self, column: &str, value: Result<T, impl ToString>, otherwise: T) -> T {
        value.unwrap_or_else(|problem| {
            self.fault
                .get_or_insert_with(|| format!("column {column}: {}", problem.to_string()));
            otherwise
        })
    }
}
