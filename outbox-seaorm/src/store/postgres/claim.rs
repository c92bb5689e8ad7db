use super::{Postgres, statement};
use crate::store::claim::having;
use outbox_core::store::{Claim, Completion, History};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, TransactionTrait};
use std::time::Duration;

impl Postgres {
    pub(in crate::store) async fn claim(
        &self,
        db: &DatabaseConnection,
        claim: &Claim,
    ) -> Result<Option<DatabaseTransaction>, DbErr> {
        let txn = db.begin().await?;
        let values = [claim.position.into(), claim.id.into(), idle(claim).into()];
        having(txn, statement(&self.sql.claim, values)).await
    }

    pub(in crate::store) async fn complete(
        &self,
        txn: &DatabaseTransaction,
        claim: &Claim,
        history: History,
    ) -> Result<Completion, DbErr> {
        let sql = match history == History::Keep {
            true => &self.sql.complete_kept,
            false => &self.sql.complete,
        };
        let values = [
            claim.member.into(),
            claim.owned.shard.into(),
            claim.owned.epoch.into(),
            claim.position.into(),
            claim.id.into(),
        ];
        let row = txn.query_one_raw(statement(sql, values)).await?;
        let count = |column| match &row {
            Some(row) => row.try_get::<i64>("", column),
            None => Ok(0),
        };
        Ok(match (count("fences")?, count("events")?) {
            (0, _) => Completion::Lost,
            (_, 0) => Completion::Gone,
            _ => Completion::Written,
        })
    }
}

/// As the setting takes it: 0 is for ever.
fn idle(claim: &Claim) -> String {
    let millis = |time: Duration| time.as_millis().clamp(1, i32::MAX as u128);
    claim.idle.map_or(0, millis).to_string()
}
