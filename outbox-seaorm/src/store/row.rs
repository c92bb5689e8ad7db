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
        get(row, column::SEQ)
    }

    /// The time until an instant, which may have passed; as the statement computed it.
    fn wait(row: &QueryResult, column: Column) -> Result<Option<Duration>, DbErr>;

    /// An instant, or what is wrong with it.
    fn time(row: &QueryResult, column: Column) -> Result<DateTime<Utc>, String>;
}

/// A column of the statements that return events: by number, as a name would be looked up for each
/// row.
pub(super) type Column = (usize, &'static str);

/// All of those have these columns, in this order; a fetch has more behind them.
pub(super) mod column {
    use super::Column;

    pub(in crate::store) const SEQ: Column = (0, "seq");
    pub(in crate::store) const SHARD: Column = (1, "shard");
    pub(in crate::store) const RETRY_IN: Column = (2, "retry_in");
    pub(in crate::store) const ID: Column = (3, "id");
    pub(in crate::store) const AGGREGATE: Column = (4, "aggregatetype");
    pub(in crate::store) const KEY: Column = (5, "aggregateid");
    pub(in crate::store) const TOPIC: Column = (6, "topic");
    pub(in crate::store) const ORDERED: Column = (7, "ordered");
    pub(in crate::store) const ATTEMPTS: Column = (8, "attempts");
    pub(in crate::store) const CRASHES: Column = (9, "crashes");
    pub(in crate::store) const SIZE: Column = (10, "size");
    pub(in crate::store) const PAYLOAD: Column = (11, "payload");
    pub(in crate::store) const HEADERS: Column = (12, "headers");
    pub(in crate::store) const OCCURRED_AT: Column = (13, "occurred_at");
    /// What a row of a fetch is.
    pub(in crate::store) const PART: Column = (14, "part");
}

/// What a row of a fetch is, where a statement has all of it as rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Shard,
    /// A position that was read before, or has committed late.
    Again,
    Event,
}

impl Part {
    pub(super) fn of(row: &QueryResult) -> Result<Self, DbErr> {
        let part: i64 = get(row, column::PART)?;
        Ok(match part {
            0 => Self::Shard,
            1 => Self::Again,
            _ => Self::Event,
        })
    }
}

pub(super) fn get<T: TryGetable>(row: &QueryResult, (index, _): Column) -> Result<T, DbErr> {
    row.try_get_by_index(index)
}

/// Where an event is.
pub(super) fn place(row: &QueryResult) -> Result<(Shard, Position), DbErr> {
    Ok((get(row, column::SHARD)?, get(row, column::SEQ)?))
}

/// Reads an event. What a foreign writer stored is input: a column that makes no sense is the
/// row's fault, and no error for the rows beside it.
pub(super) fn event<D: Dialect>(row: &QueryResult) -> Result<Row, DbErr> {
    let (shard, position) = place(row)?;
    let mut columns = Columns { row, fault: None };
    let id = columns.get(column::ID, Uuid::nil());
    let mut event = Row::new(shard, position, id);
    event.aggregate = columns.get(column::AGGREGATE, String::new());
    event.key = columns.get(column::KEY, None);
    event.topic = columns.get(column::TOPIC, String::new());
    event.ordered = columns.get(column::ORDERED, true);
    event.attempts = columns.count(column::ATTEMPTS);
    event.crashes = columns.count(column::CRASHES);
    let retry_in = D::wait(row, column::RETRY_IN);
    event.retry_in = columns.or_blame(column::RETRY_IN, retry_in, None);
    event.size = usize::try_from(columns.get(column::SIZE, 0_i64)).unwrap_or(0);
    let occurred_at = D::time(row, column::OCCURRED_AT).map(Some);
    let occurred_at = columns.or_blame(column::OCCURRED_AT, occurred_at, None);
    event.body = columns.body(occurred_at);
    event.fault = columns.fault;
    Ok(event)
}

/// Reads the row that a fetch has for each shard.
pub(super) fn seen<D: Dialect>(row: &QueryResult) -> Result<Seen, DbErr> {
    let due_in = D::wait(row, column::RETRY_IN)?;
    Ok(Seen::new(
        get(row, column::SHARD)?,
        D::revision(row)?,
        due_in,
    ))
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
    fn get<T: TryGetable>(&mut self, column: Column, otherwise: T) -> T {
        let value = get(self.row, column);
        self.or_blame(column, value, otherwise)
    }

    fn count(&mut self, column: Column) -> u32 {
        let count: i32 = self.get(column, 0);
        self.or_blame(column, u32::try_from(count), 0)
    }

    fn body(&mut self, occurred_at: Option<DateTime<Utc>>) -> Option<Body> {
        let payload = self.get(column::PAYLOAD, None::<String>);
        let headers = self.get(column::HEADERS, None::<String>);
        Some(Body::new(payload?, headers?, occurred_at?))
    }

    fn or_blame<T>(
        &mut self,
        (_, column): Column,
        value: Result<T, impl ToString>,
        otherwise: T,
    ) -> T {
        value.unwrap_or_else(|problem| {
            self.fault
                .get_or_insert_with(|| format!("column {column}: {}", problem.to_string()));
            otherwise
        })
    }
}
