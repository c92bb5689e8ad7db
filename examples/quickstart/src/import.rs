//! Imports orders: each in one transaction with its events, and each once.

use crate::{input::Line, model::order, order::Order};
use outbox_seaorm::{BoxError, CancellationToken, Emit, EmitErrorKind};
use sea_orm::{DatabaseConnection, DbErr, EntityTrait, SqlErr, TransactionTrait};
use std::{error::Error, fmt};
use tokio::sync::mpsc;

/// What became of the lines.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) imported: u64,
    /// Had been imported before, by this run or an earlier one.
    pub(crate) known: u64,
    /// Broke a rule of the business.
    pub(crate) refused: u64,
    /// Are not an order at all.
    pub(crate) malformed: u64,
    /// The input was read to its end.
    pub(crate) complete: bool,
}

enum Outcome {
    Imported,
    Known,
    Refused(String),
}

/// Imports every line. A bad one is named on standard error, and the import goes on.
pub(crate) async fn run(
    db: &DatabaseConnection,
    mut lines: mpsc::Receiver<Line>,
    stop: &CancellationToken,
) -> Result<Tally, BoxError> {
    let mut tally = Tally::default();
    let mut number = 0u64;
    // A transaction that has begun is finished: the signal is looked at between two orders.
    while let Some(next) = stop.run_until_cancelled(lines.recv()).await {
        let Some(line) = next else {
            tally.complete = true;
            break;
        };
        number += 1;
        let line = line?;
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let order: Order = match serde_json::from_slice(text) {
            Ok(order) => order,
            Err(error) => {
                eprintln!("line {number}: not an order: {}", reason(&error));
                tally.malformed += 1;
                continue;
            }
        };
        match import(db, &order).await? {
            Outcome::Imported => tally.imported += 1,
            Outcome::Known => tally.known += 1,
            Outcome::Refused(why) => {
                eprintln!("line {number}: order {} refused: {why}", order.id);
                tally.refused += 1;
            }
        }
    }
    Ok(tally)
}

async fn import(db: &DatabaseConnection, order: &Order) -> Result<Outcome, DbErr> {
    let txn = db.begin().await?;
    // Inserting first makes the id's uniqueness the judge, also between two imports at once.
    match order::Entity::insert(order.row())
        .exec_without_returning(&txn)
        .await
    {
        Err(error) if is_duplicate(&error) => return Ok(Outcome::Known),
        inserted => inserted?,
    };
    // Events of one aggregate are in the order of their commits if each writer holds the
    // aggregate's row when it emits.
    order.lock_paid(&txn).await?;
    match txn.emit_all(order.events()).await {
        Err(error) if matches!(error.kind(), EmitErrorKind::Invalid(_)) => {
            return Ok(Outcome::Refused(chain(&error)));
        }
        emitted => emitted?,
    };
    // Late on purpose: what was emitted goes away with the transaction.
    if let Some(why) = order.refusal(&txn).await? {
        txn.rollback().await?;
        return Ok(Outcome::Refused(why));
    }
    txn.commit().await?;
    Ok(Outcome::Imported)
}

fn is_duplicate(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// The error without serde's "at line 1", which is not the line of the input.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(what, _)| what);
    format!("{what} (column {})", error.column())
}

impl Tally {
    /// Whether there were lines, and not one of them was an order.
    pub(crate) fn is_useless(&self) -> bool {
        self.malformed > 0 && self.imported + self.known + self.refused == 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            imported,
            known,
            refused,
            malformed,
            ..
        } = self;
        write!(
            f,
            "{imported} orders imported, {known} known already, {refused} refused, \
             {malformed} lines malformed"
        )
    }
}
