use super::{Postgres, statement};
use crate::{
    store::claim::having,
    whole::{is_nested, left_open},
};
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
        let Some(row) = txn.query_one_raw(statement(sql, values)).await? else {
            return Ok(Completion::Lost);
        };
        let count = |column| row.try_get::<i64>("", column);
        let (fences, events) = (count("fences")?, count("events")?);
        let outermost = row.try_get::<Option<bool>>("", "outermost")?;
        if outermost == Some(false) && is_nested(txn).await? {
            return Err(left_open());
        }
        Ok(match (fences, events) {
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
