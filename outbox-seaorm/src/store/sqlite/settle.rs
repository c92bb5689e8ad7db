use super::{Sqlite, begin, seconds, statement};
use outbox_core::store::{
    DeadReason, History, MemberId, Owned, Position, Settled, Settlement, Verdict,
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl Sqlite {
    pub(in crate::store) async fn settle(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &Owned,
        outcomes: &[Settlement],
        history: History,
    ) -> Result<Settled, DbErr> {
        let batch = Batch::new(outcomes);
        let txn = begin(db).await?;
        if !batch.done.is_empty() {
            self.settle_done(&txn, batch.done, history).await?;
        }
        let owner = self.fence(&txn, member, owned).await?.is_some();
        let mut written = BTreeSet::new();
        if owner && !batch.retries.is_empty() {
            let changed = rows(&txn, &self.sql.retry, &batch.retries.into()).await?;
            written.extend(changed);
        }
        if owner && !batch.dead.is_empty() {
            let dead = Value::from(batch.dead);
            let values = [dead.to_string().into()];
            txn.execute_raw(statement(&self.sql.bury, values)).await?;
            written.extend(rows(&txn, &self.sql.delete_buried, &dead).await?);
        }
        txn.commit().await?;
        if !owner {
            return Ok(Settled::Lost);
        }
        let failed = batch.failed.into_iter();
        let gone = failed.filter(|position| !written.contains(position));
        Ok(Settled::Written {
            gone: gone.collect(),
        })
    }

    async fn settle_done(
        &self,
        txn: &DatabaseTransaction,
        done: Vec<Value>,
        history: History,
    ) -> Result<(), DbErr> {
        let done = Value::from(done).to_string();
        if history == History::Keep {
            let values = [done.as_str().into()];
            txn.execute_raw(statement(&self.sql.keep, values)).await?;
        }
        txn.execute_raw(statement(&self.sql.delete, [done.into()]))
            .await?;
        Ok(())
    }
}

/// The outcomes by kind, each kind one parameter: the number of statements does not depend on the
/// number of outcomes.
#[derive(Default)]
struct Batch {
    done: Vec<Value>,
    retries: Vec<Value>,
    dead: Vec<Value>,
    /// The positions of retries and dead letters.
    failed: Vec<Position>,
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
        match &outcome.verdict {
            Verdict::Done => {
                self.done.push(json!([position, id]));
                return;
            }
            Verdict::Retry { after, error } => {
                let after = seconds(*after);
                self.retries.push(json!([position, id, after, error]));
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
                self.dead.push(letter);
            }
        }
        self.failed.push(position);
    }
}

/// Runs a statement that returns the positions it changed.
async fn rows(
    txn: &DatabaseTransaction,
    sql: &str,
    outcomes: &Value,
) -> Result<Vec<Position>, DbErr> {
    let values = [outcomes.to_string().into()];
    let rows = txn.query_all_raw(statement(sql, values)).await?;
    rows.iter().map(|row| row.try_get("", "seq")).collect()
}
