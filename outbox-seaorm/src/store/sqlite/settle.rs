use super::{Sqlite, begin, seconds, statement};
use outbox_core::store::{
    DeadReason, History, MemberId, Outcomes, Position, Settled, Settlement, Verdict,
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use serde_json::{Value, json};
use std::collections::BTreeSet;

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
        if self.fence(txn, member, &outcomes.owned).await?.is_none() {
            return Ok(Settled::Lost);
        }
        let batch = Batch::new(&outcomes.settlements);
        if let Some(done) = batch.done.values() {
            self.settle_done(txn, done, history).await?;
        }
        let mut written = BTreeSet::new();
        if let Some([retries, ..]) = batch.retries.values() {
            written.extend(rows(txn, &self.sql.retry, [retries]).await?);
        }
        if let Some(dead) = batch.dead.values() {
            txn.execute_raw(statement(&self.sql.bury, dead.clone()))
                .await?;
            written.extend(rows(txn, &self.sql.delete_buried, dead).await?);
        }
        let failed = batch.retries.positions.into_iter();
        let failed = failed.chain(batch.dead.positions);
        let gone = failed.filter(|position| !written.contains(position));
        Ok(Settled::Written {
            gone: gone.collect(),
        })
    }

    async fn settle_done(
        &self,
        txn: &DatabaseTransaction,
        done: [sea_orm::Value; 3],
        history: History,
    ) -> Result<(), DbErr> {
        if history == History::Keep {
            txn.execute_raw(statement(&self.sql.keep, done.clone()))
                .await?;
        }
        txn.execute_raw(statement(&self.sql.delete, done)).await?;
        Ok(())
    }
}

/// The outcomes by kind: the number of statements does not depend on the number of outcomes.
#[derive(Default)]
struct Batch {
    done: List,
    retries: List,
    dead: List,
}

/// The outcomes of one kind.
#[derive(Default)]
struct List {
    positions: Vec<Position>,
    outcomes: Vec<Value>,
}

impl Batch {
    fn new(outcomes: &[Settlement]) -> Self {
        let mut batch = Self::default();
        for outcome in outcomes {
            batch.push(outcome);
        }
        batch
    }

    fn push(&mut self, outcome: &Settlement) {
        let position = outcome.position;
        let id = format!("{:X}", outcome.id.simple());
        let (list, value) = match &outcome.verdict {
            Verdict::Done => (&mut self.done, json!([position, id])),
            Verdict::Retry {
                attempts,
                after,
                error,
            } => {
                let retry = json!([position, id, seconds(*after), error, attempts]);
                (&mut self.retries, retry)
            }
            Verdict::Dead {
                reason,
                error,
                blocks,
            } => {
                // The delivery that crashed is counted in `crashes`.
                let attempts = i32::from(*reason != DeadReason::Crashed);
                let reason = reason.as_str();
                let letter = json!([position, id, reason, error, blocks, attempts]);
                (&mut self.dead, letter)
            }
        };
        list.positions.push(position);
        list.outcomes.push(value);
    }
}

impl List {
    /// The parameters of a statement: the list, and its first and last position; `None` when it is
    /// empty.
    fn values(&self) -> Option<[sea_orm::Value; 3]> {
        let first = *self.positions.iter().min()?;
        let last = *self.positions.iter().max()?;
        let outcomes = Value::from(self.outcomes.as_slice()).to_string();
        Some([outcomes.into(), first.into(), last.into()])
    }
}

/// Runs a statement that returns the positions it changed.
async fn rows<const N: usize>(
    txn: &DatabaseTransaction,
    sql: &str,
    values: [sea_orm::Value; N],
) -> Result<Vec<Position>, DbErr> {
    let rows = txn.query_all_raw(statement(sql, values)).await?;
    rows.iter().map(|row| row.try_get("", "seq")).collect()
}
