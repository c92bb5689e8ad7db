use super::{MySql, execute, micros, statement};
use outbox_core::store::{
    DeadReason, History, MemberId, Outcomes, Position, Settled, Settlement, Verdict,
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

impl MySql {
    /// Events are locked first, by position, then the shards' rows: the order for everybody. What
    /// is written is exactly what was locked.
    pub(in crate::store) async fn settle(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, DbErr> {
        let txn = self.begin(db).await?;
        let settled = self.settle_in(&txn, member, outcomes, history).await;
        self.end(txn, settled).await
    }

    async fn settle_in(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, DbErr> {
        let all = outcomes.iter().flat_map(|shard| &shard.settlements);
        let mut positions: Vec<_> = all.map(|outcome| outcome.position).collect();
        positions.sort_unstable();
        let owned: Vec<_> = outcomes.iter().map(|outcomes| outcomes.owned).collect();

        let there = self.lock_events(txn, &positions).await?;
        let mine = self.fence(txn, member, &owned).await?;
        let mut batch = Batch::default();
        for outcomes in outcomes {
            if !mine.contains(&outcomes.owned.shard) {
                continue;
            }
            for outcome in &outcomes.settlements {
                if there.get(&outcome.position) == Some(&outcome.id) {
                    batch.push(outcome);
                }
            }
        }
        let buried = self.write(txn, &batch, history).await?;

        let settled = |outcomes: &Outcomes| {
            if !mine.contains(&outcomes.owned.shard) {
                return Settled::Lost;
            }
            let gone = outcomes.settlements.iter().filter(|outcome| {
                let position = &outcome.position;
                match outcome.verdict {
                    Verdict::Done => false,
                    Verdict::Retry { .. } => there.get(position) != Some(&outcome.id),
                    Verdict::Dead { .. } => !buried.contains(position),
                }
            });
            let gone = gone.map(|outcome| outcome.position).collect();
            Settled::Written { gone }
        };
        Ok(outcomes.iter().map(settled).collect())
    }

    /// Writes a batch of locked rows; returns the dead letters that were written.
    async fn write(
        &self,
        txn: &DatabaseTransaction,
        batch: &Batch,
        history: History,
    ) -> Result<BTreeSet<Position>, DbErr> {
        for list in lists(&batch.done) {
            if history == History::Keep {
                execute(txn, &self.sql.keep, [list.as_str().into()]).await?;
            }
            execute(txn, &self.sql.delete, [list.into()]).await?;
        }
        for list in lists(&batch.retries) {
            execute(txn, &self.sql.retry, [list.into()]).await?;
        }
        let mut buried = BTreeSet::new();
        for list in lists(&batch.letters) {
            execute(txn, &self.sql.bury, [list.into()]).await?;
        }
        for list in lists(&batch.dead) {
            let rows = txn
                .query_all_raw(statement(&self.sql.buried, [list.into()]))
                .await?;
            let rows = rows.iter().map(|row| row.try_get("", "seq"));
            let rows = rows.collect::<Result<Vec<Position>, _>>()?;
            execute(txn, &self.sql.delete, [json!(rows).to_string().into()]).await?;
            buried.extend(rows);
        }
        Ok(buried)
    }

    /// Locks the events at these positions, which are sorted; returns those that are there.
    pub(super) async fn lock_events(
        &self,
        txn: &DatabaseTransaction,
        positions: &[Position],
    ) -> Result<BTreeMap<Position, Uuid>, DbErr> {
        self.lock(txn, &self.sql.lock_events, positions).await
    }

    /// The same by another statement.
    pub(super) async fn lock(
        &self,
        txn: &DatabaseTransaction,
        sql: &str,
        positions: &[Position],
    ) -> Result<BTreeMap<Position, Uuid>, DbErr> {
        let mut there = BTreeMap::new();
        let positions: Vec<_> = positions.iter().map(|position| json!(position)).collect();
        for list in lists(&positions) {
            let values = [list.into()];
            let rows = txn.query_all_raw(statement(sql, values)).await?;
            for row in rows {
                there.insert(row.try_get("", "seq")?, row.try_get("", "id")?);
            }
        }
        Ok(there)
    }
}

/// The outcomes by kind: the number of statements does not depend on the number of outcomes.
#[derive(Default)]
struct Batch {
    done: Vec<Value>,
    retries: Vec<Value>,
    letters: Vec<Value>,
    /// The positions of the letters.
    dead: Vec<Value>,
}

impl Batch {
    fn push(&mut self, outcome: &Settlement) {
        let position = outcome.position;
        match &outcome.verdict {
            Verdict::Done => self.done.push(json!(position)),
            Verdict::Retry {
                attempts,
                after,
                error,
            } => {
                let attempts = (*attempts).min(i32::MAX.unsigned_abs());
                let retry = json!([position, attempts, micros(*after), error]);
                self.retries.push(retry);
            }
            Verdict::Dead {
                reason,
                error,
                blocks,
            } => {
                // The delivery that crashed is counted in `crashes`.
                let more = i32::from(*reason != DeadReason::Crashed);
                let blocks = i32::from(*blocks);
                let letter = json!([position, reason.as_str(), error, blocks, more]);
                self.letters.push(letter);
                self.dead.push(json!(position));
            }
        }
    }
}

/// The values as JSON lists, each well below the least `max_allowed_packet` that is usual (1 MiB).
fn lists(values: &[Value]) -> Vec<String> {
    const BYTES: usize = 256 * 1024;
    let mut lists: Vec<String> = Vec::new();
    for value in values {
        let value = value.to_string();
        match lists.last_mut() {
            Some(list) if list.len() + value.len() < BYTES => list.push(','),
            _ => lists.push("[".to_owned()),
        }
        if let Some(list) = lists.last_mut() {
            list.push_str(&value);
        }
    }
    for list in &mut lists {
        list.push(']');
    }
    lists
}
