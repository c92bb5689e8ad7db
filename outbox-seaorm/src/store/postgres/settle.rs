use super::{Postgres, micros, shard::names};
use crate::db_error::state;
use outbox_core::store::{
    DeadReason, History, MemberId, Outcomes, Position, Settled, Settlement, Shard, Verdict,
};
use sea_orm::{DatabaseConnection, DbErr, QueryResult, Value};
use std::collections::BTreeSet;
use uuid::Uuid;

impl Postgres {
    /// One statement for all shards: one snapshot, all or nothing of what is the member's.
    pub(in crate::store) async fn settle(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, DbErr> {
        let batch = Batch::new(outcomes);
        let (shards, epochs) = names(outcomes.iter().map(|outcomes| &outcomes.owned));
        let common = [member.into(), shards.into(), epochs.into()];
        let values = common.into_iter().chain(batch.done());
        let kept = history == History::Keep;
        let is_success = batch.retries.is_empty() && batch.dead.is_empty();
        if is_success && self.settle_done(db, values.clone(), kept).await? {
            let written = Settled::Written { gone: Vec::new() };
            return Ok(vec![written; outcomes.len()]);
        }
        let sql = match kept {
            true => &self.sql.settle_kept,
            false => &self.sql.settle,
        };
        let rows = self.query(db, sql, values.chain(batch.failed())).await?;
        let written = Written::read(&rows)?;
        Ok(outcomes
            .iter()
            .map(|given| written.settled(given))
            .collect())
    }

    /// Where nothing has failed; `false`, and nothing is written, when a shard is another's, an event
    /// is gone, or the history has one already.
    async fn settle_done(
        &self,
        db: &DatabaseConnection,
        values: impl Iterator<Item = Value>,
        kept: bool,
    ) -> Result<bool, DbErr> {
        /// A text that is no boolean: how the statement says so.
        const NOT_MINE: &str = "22P02";
        /// A position that is taken in the history.
        const THERE: &str = "23505";
        let sql = match kept {
            true => &self.sql.settle_done_kept,
            false => &self.sql.settle_done,
        };
        match self.query(db, sql, values).await {
            Ok(_) => Ok(true),
            Err(error) => match state(&error).as_deref() {
                Some(NOT_MINE | THERE) => Ok(false),
                _ => Err(error),
            },
        }
    }
}

/// The outcomes by kind, each kind sorted by position: so rows are locked in the same order by all.
#[derive(Default)]
struct Batch<'a> {
    done: Vec<(Position, Uuid)>,
    retries: Vec<(Position, Uuid, i32, i64, &'a str)>,
    dead: Vec<Letter<'a>>,
}

struct Letter<'a> {
    position: Position,
    id: Uuid,
    reason: DeadReason,
    error: &'a str,
    blocks: bool,
}

impl<'a> Batch<'a> {
    fn new(outcomes: &'a [Outcomes]) -> Self {
        let mut batch = Self::default();
        for settlement in outcomes.iter().flat_map(|outcomes| &outcomes.settlements) {
            batch.push(settlement);
        }
        batch.done.sort_unstable();
        batch.retries.sort_unstable();
        batch.dead.sort_unstable_by_key(|letter| letter.position);
        batch
    }

    fn push(&mut self, outcome: &'a Settlement) {
        let (position, id) = (outcome.position, outcome.id);
        match &outcome.verdict {
            Verdict::Done => self.done.push((position, id)),
            Verdict::Retry {
                attempts,
                after,
                error,
            } => {
                let attempts = i32::try_from(*attempts).unwrap_or(i32::MAX);
                let retry = (position, id, attempts, micros(*after), &**error);
                self.retries.push(retry);
            }
            Verdict::Dead {
                reason,
                error,
                blocks,
            } => self.dead.push(Letter {
                position,
                id,
                reason: *reason,
                error,
                blocks: *blocks,
            }),
        }
    }

    fn done(&self) -> [Value; 2] {
        let (positions, ids): (Vec<_>, Vec<_>) = self.done.iter().copied().unzip();
        [positions.into(), ids.into()]
    }

    fn failed(&self) -> [Value; 11] {
        let (retries, dead) = (&self.retries, &self.dead);
        // The delivery that crashed is counted in `crashes`.
        let more = |letter: &Letter<'_>| i32::from(letter.reason != DeadReason::Crashed);
        [
            array(retries, |(position, ..)| *position),
            array(retries, |(_, id, ..)| *id),
            array(retries, |(_, _, _, after, _)| *after),
            array(retries, |(.., error)| text(error)),
            array(dead, |letter| letter.position),
            array(dead, |letter| letter.id),
            array(dead, |letter| letter.reason.as_str().to_owned()),
            array(dead, |letter| text(letter.error)),
            array(dead, |letter| letter.blocks),
            array(dead, more),
            array(retries, |(_, _, attempts, ..)| *attempts),
        ]
    }
}

/// What the statement returned.
#[derive(Default)]
struct Written {
    /// The shards that were the member's, and locked.
    owned: BTreeSet<Shard>,
    /// The failed events that were there.
    failed: BTreeSet<Position>,
}

impl Written {
    fn read(rows: &[QueryResult]) -> Result<Self, DbErr> {
        let mut written = Self::default();
        for row in rows {
            let number: i64 = row.try_get("", "seq")?;
            if !row.try_get("", "is_shard")? {
                written.failed.insert(number);
            } else if let Ok(shard) = Shard::try_from(number) {
                written.owned.insert(shard);
            }
        }
        Ok(written)
    }

    fn settled(&self, given: &Outcomes) -> Settled {
        if !self.owned.contains(&given.owned.shard) {
            return Settled::Lost;
        }
        let failed = given.settlements.iter();
        let failed = failed.filter(|outcome| outcome.verdict != Verdict::Done);
        let positions = failed.map(|outcome| outcome.position);
        Settled::Written {
            gone: positions
                .filter(|position| !self.failed.contains(position))
                .collect(),
        }
    }
}

fn array<T, U>(items: &[T], value: impl Fn(&T) -> U) -> Value
where
    Vec<U>: Into<Value>,
{
    items.iter().map(value).collect::<Vec<_>>().into()
}

/// PostgreSQL's texts hold no NUL.
fn text(error: &str) -> String {
    error.replace('\0', "\u{fffd}")
}
