use super::{SHARD, Sqlite, listed, statement};
use crate::store::row::{self, Part};
use outbox_core::store::{FetchRequest, Fetched, Horizon, Position, Row};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr};

impl Sqlite {
    pub(in crate::store) async fn fetch(
        &self,
        db: &DatabaseConnection,
        request: &FetchRequest<'_>,
    ) -> Result<Fetched, DbErr> {
        let mut fetched = Fetched::new(Vec::new(), Vec::new(), Vec::new(), Horizon::CommitOrder);
        let Some(cursor) = request.cursors.iter().find(|cursor| cursor.shard == SHARD) else {
            return Ok(fetched);
        };
        let values = [
            request.member.into(),
            cursor.shard.into(),
            cursor.epoch.into(),
            cursor.floor.into(),
            cursor.scan.max(cursor.floor).into(),
            number(cursor.limit).into(),
            number(request.inline_bytes).into(),
        ];
        for found in db.query_all_raw(statement(&self.sql.fetch, values)).await? {
            match Part::of(&found)? {
                Part::Shard => fetched.shards.push(row::seen::<Self>(&found)?),
                Part::Again => fetched.again.push(row::place(&found)?),
                Part::Event => fetched.rows.push(row::event::<Self>(&found)?),
            }
        }
        // They come sorted; that the parts of a UNION ALL come in order is only SQLite's habit.
        fetched.again.sort_unstable();
        fetched.rows.sort_by_key(|row| row.position);
        Ok(fetched)
    }

    pub(in crate::store) async fn read(
        &self,
        db: &DatabaseConnection,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, DbErr> {
        let [list, first, last] = listed(positions);
        let values = [list, first, last, number(inline_bytes).into()];
        let rows = db.query_all_raw(statement(&self.sql.read, values)).await?;
        rows.iter().map(row::event::<Self>).collect()
    }
}

fn number(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
