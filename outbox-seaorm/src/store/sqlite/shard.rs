use super::{SHARD, Sqlite, begin, statement};
use crate::store::row;
use outbox_core::store::{Blocked, MemberId, Owned, Position, Shard, ShardView};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr};
use serde_json::{Value, json};

impl Sqlite {
    pub(in crate::store) async fn shards(
        &self,
        db: &DatabaseConnection,
    ) -> Result<Vec<ShardView>, DbErr> {
        let rows = db.query_all_raw(statement(&self.sql.shards, [])).await?;
        rows.iter().map(row::shard_view).collect()
    }

    pub(in crate::store) async fn take(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        seen: &[ShardView],
    ) -> Result<Vec<Owned>, DbErr> {
        let Some(seen) = seen.iter().find(|view| view.shard == SHARD) else {
            return Ok(Vec::new());
        };
        let values = [
            member.into(),
            seen.shard.into(),
            seen.epoch.into(),
            seen.owner.into(),
        ];
        let row = db.query_one_raw(statement(&self.sql.take, values)).await?;
        row.iter().map(row::owned::<Self>).collect()
    }

    pub(in crate::store) async fn release(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &[Owned],
    ) -> Result<(), DbErr> {
        for owned in owned {
            let values = [member.into(), owned.shard.into(), owned.epoch.into()];
            db.execute_raw(statement(&self.sql.release, values)).await?;
        }
        Ok(())
    }

    pub(in crate::store) async fn blocked(
        &self,
        db: &DatabaseConnection,
        shards: &[Shard],
    ) -> Result<Vec<Blocked>, DbErr> {
        if !shards.contains(&SHARD) {
            return Ok(Vec::new());
        }
        let rows = db.query_all_raw(statement(&self.sql.blocked, [])).await?;
        rows.iter().map(row::blocked::<Self>).collect()
    }

    pub(in crate::store) async fn paused(
        &self,
        db: &DatabaseConnection,
    ) -> Result<Vec<String>, DbErr> {
        let rows = db.query_all_raw(statement(&self.sql.paused, [])).await?;
        rows.iter().map(|row| row.try_get("", "topic")).collect()
    }

    pub(in crate::store) async fn mark_crashes(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, DbErr> {
        let txn = begin(db).await?;
        if self.fence(&txn, member, owned).await?.is_none() {
            txn.rollback().await?;
            return Ok(false);
        }
        let marks: Value = marks
            .iter()
            .map(|(seq, crashes)| json!([seq, crashes]))
            .collect();
        let values = [marks.to_string().into()];
        txn.execute_raw(statement(&self.sql.mark_crashes, values))
            .await?;
        txn.commit().await?;
        Ok(true)
    }
}
