use super::Postgres;
use crate::store::row;
use outbox_core::store::{Blocked, Epoch, MemberId, Owned, Position, Shard, ShardView};
use sea_orm::{DatabaseConnection, DbErr};

impl Postgres {
    pub(in crate::store) async fn shards(
        &self,
        db: &DatabaseConnection,
    ) -> Result<Vec<ShardView>, DbErr> {
        let rows = self.query(db, &self.sql.shards, []).await?;
        rows.iter().map(row::shard_view).collect()
    }

    pub(in crate::store) async fn take(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        seen: &[ShardView],
    ) -> Result<Vec<Owned>, DbErr> {
        let values = [
            member.into(),
            list(seen, |view| view.shard).into(),
            list(seen, |view| view.epoch).into(),
            list(seen, |view| view.owner.unwrap_or_default()).into(),
        ];
        let rows = self.query(db, &self.sql.take, values).await?;
        rows.iter().map(row::owned::<Self>).collect()
    }

    pub(in crate::store) async fn release(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &[Owned],
    ) -> Result<(), DbErr> {
        let (shards, epochs) = names(owned);
        let values = [member.into(), shards.into(), epochs.into()];
        self.execute(db, &self.sql.release, values).await?;
        Ok(())
    }

    pub(in crate::store) async fn blocked(
        &self,
        db: &DatabaseConnection,
        shards: &[Shard],
    ) -> Result<Vec<Blocked>, DbErr> {
        let values = [shards.to_vec().into()];
        let rows = self.query(db, &self.sql.blocked, values).await?;
        rows.iter().map(row::blocked::<Self>).collect()
    }

    pub(in crate::store) async fn paused(
        &self,
        db: &DatabaseConnection,
    ) -> Result<Vec<String>, DbErr> {
        let rows = self.query(db, &self.sql.paused, []).await?;
        rows.iter().map(|row| row.try_get("", "topic")).collect()
    }

    pub(in crate::store) async fn mark_crashes(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, DbErr> {
        let crashes = |(_, crashes): &(Position, u32)| i32::try_from(*crashes).unwrap_or(i32::MAX);
        let values = [
            member.into(),
            owned.shard.into(),
            owned.epoch.into(),
            list(marks, |(position, _)| *position).into(),
            list(marks, crashes).into(),
        ];
        let fence = self.query(db, &self.sql.mark_crashes, values).await?;
        Ok(!fence.is_empty())
    }
}

/// Shards and epochs as the parameters of a statement.
pub(super) fn names<'a>(owned: impl IntoIterator<Item = &'a Owned>) -> (Vec<Shard>, Vec<Epoch>) {
    owned
        .into_iter()
        .map(|owned| (owned.shard, owned.epoch))
        .unzip()
}

pub(super) fn list<T, U>(items: &[T], value: impl Fn(&T) -> U) -> Vec<U> {
    items.iter().map(value).collect()
}
