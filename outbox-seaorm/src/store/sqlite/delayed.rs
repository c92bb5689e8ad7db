use super::{Sqlite, begin, statement};
use outbox_core::store::{MemberId, Moved, Owned};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr};

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
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = || [now.as_str().into(), limit.into()];
        let moved = txn
            .execute_raw(statement(&self.sql.move_in, values()))
            .await?
            .rows_affected();
        if moved > 0 {
            txn.execute_raw(statement(&self.sql.move_out, values()))
                .await?;
        }
        txn.commit().await?;
        Ok(Moved::Events(usize::try_from(moved).unwrap_or(usize::MAX)))
    }
}
