use super::{
    By, PausedTopic, row,
    transaction::{Transaction, Tries},
};
use crate::store::{SeaOrmStore, StoreError};
use sea_orm::DbErr;

impl SeaOrmStore {
    pub(super) async fn change_pause(
        &self,
        topic: &str,
        pause: bool,
        by: &By,
    ) -> Result<bool, StoreError> {
        let context = match pause {
            true => "pausing a topic",
            false => "resuming a topic",
        };
        let mut tries = Tries::default();
        loop {
            match self.try_pausing(topic, pause, by).await {
                Ok(changed) => return Ok(changed),
                Err(error) => tries.again(self.error(context, error)).await?,
            }
        }
    }

    /// The shards' rows are locked first: then nobody else changes a topic.
    async fn try_pausing(&self, topic: &str, pause: bool, by: &By) -> Result<bool, DbErr> {
        let txn = self.start().await?;
        txn.rows(include_str!("sql/lock_shards.sql"), []).await?;
        let found = include_str!("sql/find_pause.sql");
        let is_paused = txn.row(found, [topic.into()]).await?.is_some();
        if is_paused == pause {
            txn.roll_back().await?;
            return Ok(false);
        }
        txn.set_pause(topic, pause, by).await?;
        let revise = include_str!("sql/revise_all.sql");
        txn.change(revise, []).await?;
        let act = if pause { "pause" } else { "resume" };
        txn.record(act, by, Some(topic.to_owned()), None, None)
            .await?;
        txn.commit().await?;
        Ok(true)
    }

    pub(super) async fn list_paused(&self) -> Result<Vec<PausedTopic>, StoreError> {
        let sql = include_str!("sql/paused_topics.sql");
        let rows = self.ask("reading paused topics", sql, []).await?;
        let paused = rows.iter().map(|found| {
            let text = |column| row::text(found, column);
            let since = row::time(found, "paused_at");
            PausedTopic::new(text("topic"), text("paused_by"), text("why"), since)
        });
        Ok(paused.collect())
    }
}

impl Transaction<'_> {
    async fn set_pause(&self, topic: &str, pause: bool, by: &By) -> Result<(), DbErr> {
        if pause {
            let values = [topic.into(), by.who.as_str().into(), by.why.as_str().into()];
            self.change(include_str!("sql/pause.sql"), values).await?;
        } else {
            let resume = include_str!("sql/resume.sql");
            self.change(resume, [topic.into()]).await?;
        }
        Ok(())
    }
}
