use super::{Sqlite, begin, listed, seconds, statement};
use outbox_core::store::{
    DeadReason, History, MemberId, Outcomes, Position, Settled, Settlement, Verdict,
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use serde_json::{Value, json};
use std::collections::HashSet;
use uuid::Uuid;

impl Sqlite {
    pub(in crate::store) async fn settle(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, DbErr> {
        let txn = begin(db).await?;
        let mut settled = Vec::new();
        for outcomes in outcomes {
            settled.push(self.settle_shard(&txn, member, outcomes, history).await?);
        }
        txn.commit().await?;
        Ok(settled)
    }

    async fn settle_shard(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        outcomes: &Outcomes,
        history: History,
    ) -> Result<Settled, DbErr> {
        let Some(there) = self.there(txn, member, outcomes).await? else {
            return Ok(Settled::Lost);
        };
        let outcomes = outcomes.settlements.iter();
        let (found, gone) =
            outcomes.partition::<Vec<_>, _>(|outcome| there.contains(&named(outcome)));
        let batch = Batch::new(&found);
        self.write_done(txn, &batch.done, history).await?;
        if !batch.retries.is_empty() {
            let retries = Value::from(batch.retries.as_slice()).to_string();
            txn.execute_raw(statement(&self.sql.retry, [retries.into()]))
                .await?;
        }
        let kept = self.write_dead(txn, &batch).await?;
        let failed = gone
            .iter()
            .filter(|outcome| outcome.verdict != Verdict::Done);
        let gone = failed.map(|outcome| outcome.position).chain(kept).collect();
        Ok(Settled::Written { gone })
    }

    /// The events of these outcomes that are there, if the shard is the member's. Everything else
    /// goes by position alone: nobody else writes until the commit.
    async fn there(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        outcomes: &Outcomes,
    ) -> Result<Option<HashSet<(Position, Uuid)>>, DbErr> {
        let settlements = outcomes.settlements.iter();
        let positions: Vec<_> = settlements.map(|outcome| outcome.position).collect();
        let [list, first, last] = listed(&positions);
        let owned = &outcomes.owned;
        let (shard, epoch) = (owned.shard.into(), owned.epoch.into());
        let values = [member.into(), shard, epoch, list, first, last];
        let row = txn
            .query_one_raw(statement(&self.sql.there, values))
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let there: Option<String> = row.try_get("", "there")?;
        let there = there.iter().flat_map(|there| there.split(','));
        Ok(Some(there.filter_map(place).collect()))
    }

    async fn write_done(
        &self,
        txn: &DatabaseTransaction,
        done: &[Position],
        history: History,
    ) -> Result<(), DbErr> {
        if done.is_empty() {
            return Ok(());
        }
        let done = listed(done);
        if history == History::Keep {
            txn.execute_raw(statement(&self.sql.keep, done.clone()))
                .await?;
        }
        txn.execute_raw(statement(&self.sql.delete, done)).await?;
        Ok(())
    }

    /// Returns the events that stay, since other letters have their places.
    async fn write_dead(
        &self,
        txn: &DatabaseTransaction,
        Batch { dead, letters, .. }: &Batch,
    ) -> Result<Vec<Position>, DbErr> {
        if dead.is_empty() {
            return Ok(Vec::new());
        }
        let [list, first, last] = listed(dead);
        let letters = Value::from(letters.as_slice()).to_string();
        let bury = statement(
            &self.sql.bury,
            [letters.into(), first.clone(), last.clone()],
        );
        txn.execute_raw(bury).await?;
        let delete = statement(&self.sql.delete_buried, [list, first, last]);
        let rows = txn.query_all_raw(delete).await?.into_iter();
        let buried = rows.map(|row| row.try_get("", "seq"));
        let buried = buried.collect::<Result<HashSet<Position>, _>>()?;
        let kept = dead.iter().filter(|position| !buried.contains(position));
        Ok(kept.copied().collect())
    }
}

fn named(outcome: &Settlement) -> (Position, Uuid) {
    (outcome.position, outcome.id)
}

/// Reads a position with the id behind it.
fn place(text: &str) -> Option<(Position, Uuid)> {
    const ID: usize = 32;
    let (position, id) = text.split_at_checked(text.len().checked_sub(ID)?)?;
    Some((position.parse().ok()?, Uuid::try_parse(id).ok()?))
}

/// The outcomes by kind: the number of statements does not depend on the number of outcomes.
#[derive(Default)]
struct Batch {
    done: Vec<Position>,
    retries: Vec<Value>,
    dead: Vec<Position>,
    letters: Vec<Value>,
}

impl Batch {
    fn new(outcomes: &[&Settlement]) -> Self {
        let mut batch = Self::default();
        for outcome in outcomes {
            batch.push(outcome);
        }
        batch
    }

    fn push(&mut self, outcome: &Settlement) {
        let position = outcome.position;
        match &outcome.verdict {
            Verdict::Done => self.done.push(position),
            Verdict::Retry {
                attempts,
                after,
                error,
            } => {
                let retry = json!([position, seconds(*after), error, attempts]);
                self.retries.push(retry);
            }
            Verdict::Dead {
                reason,
                error,
                blocks,
            } => {
                // The delivery that crashed is counted in `crashes`.
                let more = i32::from(*reason != DeadReason::Crashed);
                let letter = json!([position, reason.as_str(), error, blocks, more]);
                self.letters.push(letter);
                self.dead.push(position);
            }
        }
    }
}
