use super::{letters::micros, row, transaction::Tries};
use crate::store::{Body, Delivered, Kept, Position, Row, SeaOrmStore, StoreError};
use chrono::NaiveDateTime;
use sea_orm::{DbBackend, DbErr, QueryResult};
use std::time::Duration;
use uuid::Uuid;

const PRUNING: &str = "pruning";

/// The verbs of a store that keep its tables from growing: like an operator's, they name no shard.
impl SeaOrmStore {
    /// One statement of its own transaction, by the index on the time.
    pub(crate) async fn prune_kept(
        &self,
        kept: Kept,
        age: Duration,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let backend = self.db().get_database_backend();
        let (table, key, time, and) = match kept {
            Kept::Delivered => ("outbox_delivered", "seq", "delivered_at", ""),
            Kept::Dead => (
                "outbox_dead",
                "seq",
                "dead_at",
                "AND blocks_aggregate = FALSE",
            ),
            Kept::Inbox => (
                "outbox_inbox",
                row::whole(backend),
                "begun_at",
                // What is left to somebody is not forgotten before that is over.
                "AND (done_at IS NOT NULL OR lease_until <= {ago $1})",
            ),
            Kept::DedupeKeys => ("outbox_dedupe", "dedupe_key", "expires_at", ""),
            _ => ("outbox_operation", "id", "done_at", ""),
        };
        let sql = match backend {
            DbBackend::Postgres => include_str!("sql/prune_postgres.sql"),
            DbBackend::MySql => include_str!("sql/prune_mysql.sql"),
            _ => include_str!("sql/prune_sqlite.sql"),
        };
        let sql = sql.replace("{table}", table).replace("{key}", key);
        let sql = sql.replace("{time}", time).replace("{and}", and);
        let mut tries = Tries::default();
        loop {
            match self.try_pruning(&sql, age, limit).await {
                Ok(deleted) => return Ok(deleted),
                Err(error) => tries.again(self.error(PRUNING, error)).await?,
            }
        }
    }

    async fn try_pruning(&self, sql: &str, age: Duration, limit: usize) -> Result<usize, DbErr> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let txn = self.start().await?;
        let deleted = txn.change(sql, [micros(age).into(), limit.into()]).await?;
        txn.commit().await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }

    pub(crate) async fn list_expired(
        &self,
        age: Duration,
        limit: usize,
    ) -> Result<Vec<Delivered>, StoreError> {
        const READING: &str = "reading the history";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = include_str!("sql/expired.sql");
        let values = [micros(age).into(), limit.into()];
        let rows = self.ask(READING, sql, values).await?;
        let expired = rows.iter().map(delivered).collect::<Result<_, _>>();
        expired.map_err(|error| self.error(READING, error))
    }

    pub(crate) async fn forget_delivered(
        &self,
        events: &[(Position, Uuid)],
    ) -> Result<usize, StoreError> {
        let mut events = events.to_vec();
        events.sort_unstable();
        let mut tries = Tries::default();
        loop {
            match self.try_forgetting(&events).await {
                Ok(deleted) => return Ok(deleted),
                Err(error) => tries.again(self.error(PRUNING, error)).await?,
            }
        }
    }

    async fn try_forgetting(&self, events: &[(Position, Uuid)]) -> Result<usize, DbErr> {
        let txn = self.start().await?;
        let sql = include_str!("sql/forget.sql");
        let mut deleted = 0;
        for (position, id) in events {
            let gone = txn.change(sql, [(*position).into(), (*id).into()]).await?;
            deleted += usize::try_from(gone).unwrap_or_default();
        }
        txn.commit().await?;
        Ok(deleted)
    }
}

fn delivered(found: &QueryResult) -> Result<Delivered, DbErr> {
    let mut event = Row::new(0, found.try_get("", "seq")?, found.try_get("", "id")?);
    event.aggregate = row::text(found, "aggregatetype");
    event.key = row::get(found, "aggregateid", None);
    event.topic = row::text(found, "topic");
    event.ordered = row::get(found, "ordered", true);
    event.attempts = u32::try_from(row::get(found, "attempts", 0_i32)).unwrap_or(0);
    let occurred_at: Option<NaiveDateTime> = row::get(found, "occurred_at", None);
    let body = Body::new(
        row::text(found, "payload"),
        row::text(found, "headers"),
        occurred_at.unwrap_or_default().and_utc(),
    );
    let (created_at, delivered_at) = (
        row::time(found, "created_at"),
        row::time(found, "delivered_at"),
    );
    Ok(Delivered::new(event, body, created_at, delivered_at))
}
