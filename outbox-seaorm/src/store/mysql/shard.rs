use super::{MySql, execute, pairs, statement};
use crate::store::row;
use outbox_core::store::{Blocked, MemberId, Owned, Position, Shard, ShardView};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use serde_json::json;
use std::collections::BTreeSet;

impl MySql {
    pub(in crate::store) async fn shards(
        &self,
        db: &DatabaseConnection,
    ) -> Result<Vec<ShardView>, DbErr> {
        let rows = self.query(db, &self.sql.shards, []).await?;
        rows.iter().map(row::shard_view).collect()
    }

    /// The rows are locked first and compared, then the members are read: a shard can have got
    /// another owner only with another epoch. The member's own row is not locked, as a session
    /// that is stopped here would hold up its heartbeat, and its eviction after that; a member
    /// that is evicted at this very moment holds shards that nobody counts as held.
    pub(in crate::store) async fn take(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        seen: &[ShardView],
    ) -> Result<Vec<Owned>, DbErr> {
        let txn = self.begin(db).await?;
        let won = self.take_in(&txn, member, seen).await;
        self.end(txn, won).await
    }

    async fn take_in(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        seen: &[ShardView],
    ) -> Result<Vec<Owned>, DbErr> {
        let free = self.free(txn, member, seen).await?;
        let mut won = Vec::new();
        if !free.is_empty() {
            let last = self.last_position(txn).await?;
            won.extend(free.iter().map(|view| {
                let suspect_to = view.owner.map_or(0, |_| last);
                Owned::new(view.shard, view.epoch + 1, suspect_to)
            }));
            let taken = won
                .iter()
                .map(|owned| json!([owned.shard, owned.suspect_to]));
            let taken = taken.collect::<serde_json::Value>().to_string();
            execute(txn, &self.sql.take, [taken.into(), member.into()]).await?;
        }
        Ok(won)
    }

    /// Those that are still as they were seen, without a living owner, now locked.
    async fn free(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        seen: &[ShardView],
    ) -> Result<Vec<ShardView>, DbErr> {
        let wanted: Vec<_> = seen
            .iter()
            .map(|view| Owned::new(view.shard, view.epoch, 0))
            .collect();
        let values = [pairs(&wanted).into()];
        let locked = txn
            .query_all_raw(statement(&self.sql.lock_shards, values))
            .await?;
        let living = txn.query_all_raw(statement(&self.sql.living, [])).await?;
        let living: BTreeSet<MemberId> = living
            .iter()
            .map(|row| row.try_get("", "id"))
            .collect::<Result<_, _>>()?;
        if !living.contains(&member) {
            return Ok(Vec::new());
        }
        let mut free = Vec::new();
        for row in &locked {
            let (shard, epoch): (Shard, _) = (row.try_get("", "shard")?, row.try_get("", "epoch")?);
            let owner: Option<MemberId> = row.try_get("", "owner")?;
            let as_seen = seen
                .iter()
                .any(|view| (view.shard, view.epoch, view.owner) == (shard, epoch, owner));
            if as_seen && owner.is_none_or(|owner| !living.contains(&owner)) {
                free.push(ShardView::new(shard, epoch, owner, false));
            }
        }
        Ok(free)
    }

    async fn last_position(&self, txn: &DatabaseTransaction) -> Result<Position, DbErr> {
        let row = txn
            .query_one_raw(statement(&self.sql.last_position, []))
            .await?;
        row.map_or(Ok(0), |row| row.try_get("", "seq"))
    }

    pub(in crate::store) async fn release(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &[Owned],
    ) -> Result<(), DbErr> {
        let txn = self.begin(db).await?;
        let values = [pairs(owned).into(), member.into()];
        let released = execute(&txn, &self.sql.release, values).await;
        self.end(txn, released).await
    }

    pub(in crate::store) async fn blocked(
        &self,
        db: &DatabaseConnection,
        shards: &[Shard],
    ) -> Result<Vec<Blocked>, DbErr> {
        let values = [json!(shards).to_string().into()];
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
        let txn = self.begin(db).await?;
        let marked = self.mark_crashes_in(&txn, member, owned, marks).await;
        self.end(txn, marked).await
    }

    async fn mark_crashes_in(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, DbErr> {
        let mut marks: Vec<_> = marks
            .iter()
            .map(|(position, crashes)| (*position, i16::try_from(*crashes).unwrap_or(i16::MAX)))
            .collect();
        marks.sort_unstable();
        let positions: Vec<_> = marks.iter().map(|(position, _)| *position).collect();
        let free = &self.sql.lock_free_events;
        let free = self.lock(txn, free, &positions).await?;
        marks.retain(|(position, _)| free.contains_key(position));
        let fenced = self.fence(txn, member, std::slice::from_ref(owned)).await?;
        if fenced.is_empty() {
            return Ok(false);
        }
        let values = [json!(marks).to_string().into()];
        execute(txn, &self.sql.mark_crashes, values).await?;
        Ok(true)
    }
}
