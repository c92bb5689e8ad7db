use super::{MySql, ranges};
use crate::store::row::{self, Part};
use outbox_core::store::{Cursor, FetchRequest, Fetched, Horizon, Owned, Position, Row, Shard};
use sea_orm::{DatabaseConnection, DbBackend, DbErr, Statement, Value};
use serde_json::json;
use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError},
    time::Duration,
};

/// How long a transaction may stay open after its first emit: InnoDB does not tell which positions
/// are still to be committed.
const LONGEST_EMIT: Duration = Duration::from_secs(5 * 60);

impl MySql {
    pub(in crate::store) async fn fetch(
        &self,
        db: &DatabaseConnection,
        request: &FetchRequest<'_>,
    ) -> Result<Fetched, DbErr> {
        let horizon = Horizon::Within(LONGEST_EMIT);
        let mut fetched = Fetched::new(Vec::new(), Vec::new(), Vec::new(), horizon);
        if request.cursors.is_empty() {
            return Ok(fetched);
        }
        for found in self.query_all(db, self.fetch_statement(request)).await? {
            match Part::of(&found)? {
                Part::Shard => fetched.shards.push(row::seen::<Self>(&found)?),
                Part::Again => fetched.again.push(row::place(&found)?),
                Part::Event => fetched.rows.push(row::event::<Self>(&found)?),
            }
        }
        // The snapshot is one for the whole statement: what it shows of a shard that is another's
        // in it is not ours.
        let owned: BTreeSet<Shard> = fetched.shards.iter().map(|seen| seen.shard).collect();
        fetched.again.retain(|(shard, _)| owned.contains(shard));
        fetched.again.sort_unstable();
        fetched.rows.retain(|row| owned.contains(&row.shard));
        fetched.rows.sort_by_key(|row| (row.shard, row.position));
        Ok(fetched)
    }

    fn fetch_statement(&self, request: &FetchRequest<'_>) -> Statement {
        let mut cursors = request.cursors.to_vec();
        cursors.sort_unstable_by_key(|cursor| cursor.shard);
        let owned = |cursor: &Cursor| Owned::new(cursor.shard, cursor.epoch, 0);
        let owned: Vec<_> = cursors.iter().map(owned).collect();
        let mut values: Vec<Value> = vec![super::pairs(&owned).into(), request.member.into()];
        values.extend(ranges::values(&cursors));
        for cursor in &cursors {
            let scan = cursor.scan.max(cursor.floor);
            let limit = i64::try_from(cursor.limit).unwrap_or(i64::MAX);
            values.extend([cursor.shard.into(), scan.into(), limit.into()]);
        }
        let sql = self.fetch_sql(request.cursors.len(), request.inline_bytes);
        Statement::from_sql_and_values(DbBackend::MySql, &*sql, values)
    }

    fn fetch_sql(&self, shards: usize, inline_bytes: usize) -> Arc<str> {
        // A map is whole after each of its operations.
        let mut fetches = self.fetches.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = fetches.entry((shards, inline_bytes));
        sql.or_insert_with(|| self.sql.fetch(shards, inline_bytes).into())
            .clone()
    }

    pub(in crate::store) async fn read(
        &self,
        db: &DatabaseConnection,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, DbErr> {
        let inline = i64::try_from(inline_bytes).unwrap_or(i64::MAX);
        let positions = json!(positions).to_string();
        let values = [inline.into(), inline.into(), positions.into()];
        let rows = self.query(db, &self.sql.read, values).await?;
        rows.iter().map(row::event::<Self>).collect()
    }
}
