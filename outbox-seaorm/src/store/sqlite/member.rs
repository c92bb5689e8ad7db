use super::{Sqlite, begin, seconds, statement};
use crate::store::{live, row};
use outbox_core::store::{Liveness, Member, MemberId, MemberView};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, QueryResult};
use std::time::Duration;

impl Sqlite {
    pub(in crate::store) async fn join(
        &self,
        db: &DatabaseConnection,
        member: &Member,
        lease: Duration,
    ) -> Result<(), DbErr> {
        // Before its row can be seen: a row without a living member is free to be taken away.
        self.joined.add(member.id);
        let values = [
            member.id.into(),
            seconds(lease).into(),
            member.place.as_str().into(),
            member.handles.as_str().into(),
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
        let values = [member.into(), seconds(lease).into()];
        let renewed = db.execute_raw(statement(&self.sql.renew, values)).await?;
        Ok(renewed.rows_affected() > 0)
    }

    pub(in crate::store) async fn members(
        &self,
        db: &DatabaseConnection,
    ) -> Result<Vec<MemberView>, DbErr> {
        let in_process = self.in_process(db).await?;
        let rows = db.query_all_raw(statement(&self.sql.members, [])).await?;
        rows.iter().map(|row| view(row, in_process)).collect()
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
        let txn = begin(db).await?;
        for sql in [&self.sql.release_all, &self.sql.remove_member] {
            txn.execute_raw(statement(sql, [member.into()])).await?;
        }
        txn.commit().await?;
        self.joined.remove(member);
        Ok(())
    }
}

fn view(row: &QueryResult, in_process: bool) -> Result<MemberView, DbErr> {
    if !in_process {
        return row::member(row);
    }
    let liveness = match live::is_live(row.try_get("", "id")?) {
        true => Liveness::Alive,
        false => Liveness::Gone,
    };
    row::member_that_is(row, liveness)
}
