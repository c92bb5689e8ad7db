use super::{
    Act, By, row,
    transaction::{Transaction, Tries},
};
use crate::store::{Position, SeaOrmStore, StoreError};
use sea_orm::{DbErr, QueryResult};
use std::collections::BTreeSet;
use uuid::Uuid;

impl SeaOrmStore {
    pub(super) async fn act_on(
        &self,
        act: Act,
        positions: &[Position],
        by: &By,
    ) -> Result<Vec<Position>, StoreError> {
        let context = match act {
            Act::Retry => "retrying dead letters",
            Act::Skip => "skipping dead letters",
            _ => "discarding events",
        };
        let positions: BTreeSet<_> = positions.iter().copied().collect();
        let mut tries = Tries::default();
        loop {
            match self.try_acting(act, &positions, by).await {
                Ok(acted) => return Ok(acted),
                Err(error) => tries.again(self.error(context, error)).await?,
            }
        }
    }

    /// Letters and events are locked by position, then the shards' rows: the order for everybody.
    async fn try_acting(
        &self,
        act: Act,
        positions: &BTreeSet<Position>,
        by: &By,
    ) -> Result<Vec<Position>, DbErr> {
        let txn = self.start().await?;
        let (mut acted, mut shards) = (Vec::new(), BTreeSet::new());
        for position in positions {
            let Some(found) = txn.act(act, *position).await? else {
                continue;
            };
            if found.is_noticed {
                shards.insert(found.shard);
            }
            let (topic, id) = (Some(found.topic), Some(found.id));
            txn.record(act.as_str(), by, topic, id, Some(*position))
                .await?;
            acted.push(*position);
        }
        txn.revise(shards).await?;
        txn.commit().await?;
        Ok(acted)
    }
}

/// What an act was done with.
struct Found {
    id: Uuid,
    topic: String,
    shard: i64,
    /// Whoever has read the shard must read it anew.
    is_noticed: bool,
}

impl Found {
    fn read(found: &QueryResult, is_noticed: bool) -> Self {
        Self {
            id: row::get(found, "id", Uuid::nil()),
            topic: row::text(found, "topic"),
            shard: row::shard(found),
            is_noticed,
        }
    }
}

impl Transaction<'_> {
    async fn act(&self, act: Act, position: Position) -> Result<Option<Found>, DbErr> {
        let at = || [position.into()];
        let lock = include_str!("sql/lock_letter.sql");
        let Some(found) = self.row(lock, at()).await? else {
            return match act {
                Act::Discard => self.discard_event(position).await,
                _ => Ok(None),
            };
        };
        let (ordered, blocks): (bool, bool) = (
            found.try_get("", "ordered")?,
            found.try_get("", "blocks_aggregate")?,
        );
        let sql = match act {
            Act::Skip if !blocks => return Ok(None),
            Act::Skip => include_str!("sql/skip_letter.sql"),
            _ => include_str!("sql/delete_letter.sql"),
        };
        if act == Act::Retry {
            let back = match ordered {
                // After a restore another event may have its place, or it may be there itself.
                true if self.is_taken(position).await? => return Ok(None),
                true => include_str!("sql/return_letter.sql"),
                // What nothing waits for takes the next place, where no reader has been yet.
                false => include_str!("sql/renew_letter.sql"),
            };
            self.change(back, at()).await?;
        }
        self.change(sql, at()).await?;
        let is_noticed = blocks || (act == Act::Retry && ordered);
        Ok(Some(Found::read(&found, is_noticed)))
    }

    async fn is_taken(&self, position: Position) -> Result<bool, DbErr> {
        let lock = include_str!("sql/lock_event.sql");
        let found = self.row(lock, [position.into()]).await?;
        Ok(found.is_some())
    }

    async fn discard_event(&self, position: Position) -> Result<Option<Found>, DbErr> {
        let lock = include_str!("sql/lock_event.sql");
        let Some(found) = self.row(lock, [position.into()]).await? else {
            return Ok(None);
        };
        let delete = include_str!("sql/delete_event.sql");
        self.change(delete, [position.into()]).await?;
        Ok(Some(Found::read(&found, true)))
    }

    /// Tells whoever has read these shards, in the order in which everybody locks them.
    pub(super) async fn revise(&self, shards: BTreeSet<i64>) -> Result<(), DbErr> {
        for shard in shards {
            let sql = include_str!("sql/revise.sql");
            self.change(sql, [shard.into()]).await?;
        }
        Ok(())
    }

    /// Writes down what was done.
    pub(super) async fn record(
        &self,
        act: &str,
        by: &By,
        topic: Option<String>,
        event: Option<Uuid>,
        position: Option<Position>,
    ) -> Result<(), DbErr> {
        let values = [
            Uuid::now_v7().into(),
            act.into(),
            by.who.as_str().into(),
            by.why.as_str().into(),
            topic.into(),
            event.into(),
            position.into(),
        ];
        self.change(include_str!("sql/record.sql"), values).await?;
        Ok(())
    }
}
