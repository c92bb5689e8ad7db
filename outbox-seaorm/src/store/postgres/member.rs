use super::{Postgres, micros};
use crate::store::row;
use outbox_core::store::{Member, MemberId, MemberView};
use sea_orm::{DatabaseConnection, DbErr};
use std::time::Duration;

impl Postgres {
    pub(in crate::store) async fn join(
        &self,
        db: &DatabaseConnection,
        member: &Member,
        lease: Duration,
    ) -> Result<(), DbErr> {
        let values = [
            member.id.into(),
            micros(lease).into(),
            member.place.as_str().into(),
            member.handles.as_str().into(),
        ];
        self.execute(db, &self.sql.join, values).await?;
        Ok(())
    }

    pub(in crate::store) async fn renew(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        lease: Duration,
    ) -> Result<bool, DbErr> {
        let values = [member.into(), micros(lease).into()];
        Ok(self.execute(db, &self.sql.renew, values).await? > 0)
    }

    pub(in crate::store) async fn set_sleeping(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        sleeping: bool,
    ) -> Result<(), DbErr> {
        let values = [member.into(), sleeping.into()];
        self.execute(db, &self.sql.set_sleeping, values).await?;
        Ok(())
    }

    pub(in crate::store) async fn members(
        &self,
        db: &DatabaseConnection,
    ) -> Result<Vec<MemberView>, DbErr> {
        let rows = self.query(db, &self.sql.members, []).await?;
        rows.iter().map(row::member).collect()
    }

    pub(in crate::store) async fn evict(
        &self,
        db: &DatabaseConnection,
        seen: &MemberView,
    ) -> Result<bool, DbErr> {
        let values = [seen.id.into(), seen.lease_until.as_str().into()];
        Ok(self.execute(db, &self.sql.evict, values).await? > 0)
    }

    pub(in crate::store) async fn leave(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
    ) -> Result<(), DbErr> {
        self.execute(db, &self.sql.leave, [member.into()]).await?;
        Ok(())
    }
}
