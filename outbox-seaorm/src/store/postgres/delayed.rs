use super::Postgres;
use outbox_core::store::{MemberId, Moved, Owned};
use sea_orm::{DatabaseConnection, DbErr};

impl Postgres {
    pub(in crate::store) async fn move_due(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, DbErr> {
        let values = [
            member.into(),
            owned.shard.into(),
            owned.epoch.into(),
            i64::try_from(limit).unwrap_or(i64::MAX).into(),
        ];
        let rows = self.query(db, &self.sql.move_due, values).await?;
        let Some(row) = rows.first() else {
            return Ok(Moved::Lost);
        };
        if !row.try_get("", "fenced")? {
            return Ok(Moved::Lost);
        }
        let moved: i64 = row.try_get("", "moved")?;
        Ok(Moved::Events(usize::try_from(moved).unwrap_or_default()))
    }
}
