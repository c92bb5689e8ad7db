use super::{MySql, execute, micros, statement};
use crate::store::{apart, row};
use outbox_core::store::{Member, MemberId, MemberView};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use std::time::Duration;

impl MySql {
    /// A server lives elsewhere.
    pub(in crate::store) async fn in_process(&self, _: &DatabaseConnection) -> Result<bool, DbErr> {
        Ok(false)
    }

    pub(in crate::store) async fn connect_apart(
        &self,
        db: &DatabaseConnection,
    ) -> Result<DatabaseConnection, DbErr> {
        apart::mysql(db).await
    }

    pub(in crate::store) async fn join(
        &self,
        db: &DatabaseConnection,
        member: &Member,
        lease: Duration,
    ) -> Result<(), DbErr> {
        let lease = micros(lease);
        let values = [
            member.id.into(),
            lease.into(),
            member.place.as_str().into(),
            member.handles.as_str().into(),
            lease.into(),
        ];
        db.execute_raw(statement(&self.sql.join, values)).await?;
        Ok(())
    }

    pub(in crate::store) async fn renew(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        lease: Duration,
    ) -> Result<bool, DbErr> {
        let values = [micros(lease).into(), member.into()];
        let renewed = db.execute_raw(statement(&self.sql.renew, values)).await?;
        Ok(renewed.rows_affected() > 0)
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
        let evicted = db.execute_raw(statement(&self.sql.evict, values)).await?;
        Ok(evicted.rows_affected() > 0)
    }

    pub(in crate::store) async fn leave(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
    ) -> Result<(), DbErr> {
        let txn = self.begin(db).await?;
        let left = self.leave_in(&txn, member).await;
        self.end(txn, left).await
    }

    async fn leave_in(&self, txn: &DatabaseTransaction, member: MemberId) -> Result<(), DbErr> {
        for sql in [&self.sql.release_all, &self.sql.remove_member] {
            execute(txn, sql, [member.into()]).await?;
        }
        Ok(())
    }
}
