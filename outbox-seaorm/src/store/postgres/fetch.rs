use super::{
    Postgres,
    row::{AGAIN, AGE, IS_SHARD, LATEST, OLDEST},
    shard::list,
};
use crate::store::row::{self, get};
use outbox_core::store::{FetchRequest, Fetched, Horizon, Position, Row};
use sea_orm::{DatabaseConnection, DbErr, QueryResult};

impl Postgres {
    pub(in crate::store) async fn fetch(
        &self,
        db: &DatabaseConnection,
        request: &FetchRequest<'_>,
    ) -> Result<Fetched, DbErr> {
        let cursors = request.cursors;
        let values = [
            request.member.into(),
            list(cursors, |cursor| cursor.shard).into(),
            list(cursors, |cursor| cursor.epoch).into(),
            list(cursors, |cursor| cursor.floor).into(),
            list(cursors, |cursor| cursor.scan.max(cursor.floor)).into(),
            list(cursors, |cursor| number(cursor.limit)).into(),
            number(request.inline_bytes).into(),
        ];
        let mut fetched = Fetched::default();
        for found in self.query(db, &self.sql.fetch, values).await? {
            if !get::<bool>(&found, IS_SHARD)? {
                fetched.rows.push(row::event::<Self>(&found)?);
                continue;
            }
            let seen = row::seen::<Self>(&found)?;
            let again: Option<Vec<Position>> = get(&found, AGAIN)?;
            let again = again.into_iter().flatten();
            fetched
                .again
                .extend(again.map(|position| (seen.shard, position)));
            fetched.shards.push(seen);
            fetched.horizon = horizon(&found)?;
        }
        // They come so, but no statement has promised it.
        fetched.again.sort_unstable();
        fetched.rows.sort_by_key(|row| (row.shard, row.position));
        Ok(fetched)
    }

    pub(in crate::store) async fn read(
        &self,
        db: &DatabaseConnection,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, DbErr> {
        let values = [positions.to_vec().into(), number(inline_bytes).into()];
        let rows = self.query(db, &self.sql.read, values).await?;
        rows.iter().map(row::event::<Self>).collect()
    }
}

fn horizon(row: &QueryResult) -> Result<Horizon, DbErr> {
    let oldest: i64 = get(row, OLDEST)?;
    let latest: i64 = get(row, LATEST)?;
    let age: i32 = get(row, AGE)?;
    Ok(Horizon::Transactions {
        next: next(latest.cast_unsigned(), age),
        oldest: oldest.cast_unsigned(),
    })
}

/// The next transaction id in 64 bits: `age` is how far its lower half is beyond 3, the first id
/// there ever is, and it is not below the end of the snapshot nor far above.
fn next(latest: u64, age: i32) -> u64 {
    const FIRST: u32 = 3;
    const LOWER_HALF: u64 = 0xffff_ffff;
    let next = u64::from(age.cast_unsigned().wrapping_add(FIRST));
    latest + (next.wrapping_sub(latest) & LOWER_HALF)
}

fn number(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn the_next_id_is_widened_by_the_snapshot() {
        // As `age('3')` computes it: the difference of the lower halves, signed.
        let age = |next: u64| ((next & 0xffff_ffff) as u32).wrapping_sub(3).cast_signed();
        for latest in [
            3,
            808,
            u64::from(u32::MAX) - 1,
            (7 << 32) - 2,
            (7 << 32) + 9,
        ] {
            for running in [0, 1, 1000, 1 << 31] {
                assert_eq!(next(latest, age(latest + running)), latest + running);
            }
        }
    }
}
