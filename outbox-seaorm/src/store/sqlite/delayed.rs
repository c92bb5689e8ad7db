use super::{Sqlite, begin, statement};
use outbox_core::store::{MemberId, Moved, Owned};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, Value};

impl Sqlite {
    pub(in crate::store) async fn move_due(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, DbErr> {
        let txn = begin(db).await?;
        let Some(now) = self.fence(&txn, member, owned).await? else {
            txn.rollback().await?;
            return Ok(Moved::Lost);
        };
        let [due, id] = self.last_due(&txn, &now, limit).await?;
        let moved = txn
            .execute_raw(statement(&self.sql.move_in, [due.clone(), id.clone()]))
            .await?
            .rows_affected();
        if moved > 0 {
            txn.execute_raw(statement(&self.sql.move_out, [due, id]))
                .await?;
        }
        txn.commit().await?;
        Ok(Moved::Events(usize::try_from(moved).unwrap_or(usize::MAX)))
    }

    /// Due time and id of the last event to move, if `limit` are due; else a bound behind all that
    /// are. Two statements have two `now`s: what is moved is fixed here.
    async fn last_due(
        &self,
        txn: &DatabaseTransaction,
        now: &str,
        limit: usize,
    ) -> Result<[Value; 2], DbErr> {
        let before = i64::try_from(limit).unwrap_or(i64::MAX) - 1;
        let values = [now.into(), before.into()];
        let row = txn
            .query_one_raw(statement(&self.sql.last_due, values))
            .await?;
        let Some(row) = row else {
            return Ok([now.into(), vec![u8::MAX; 17].into()]);
        };
        let due: String = row.try_get("", "due_at")?;
        let id: Vec<u8> = row.try_get("", "id")?;
        Ok([due.into(), id.into()])
    }
}
