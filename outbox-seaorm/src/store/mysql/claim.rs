use super::{MySql, execute, statement};
use crate::{
    store::claim::{having, taken_out},
    whole::{MARK, still_marked},
};
use outbox_core::store::{Claim, Completion, History};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, TransactionTrait};
use serde_json::json;

impl MySql {
    pub(in crate::store) async fn claim(
        &self,
        db: &DatabaseConnection,
        claim: &Claim,
    ) -> Result<Option<DatabaseTransaction>, DbErr> {
        let sessions = self.sessions(db).await?;
        let txn = db.begin().await?;
        let claimed = having(
            txn,
            statement(&self.sql.claim, [claim.position.into(), claim.id.into()]),
        )
        .await?;
        if let Some(txn) = &claimed {
            let bound = claim.idle.map(|idle| sessions.bounded(idle));
            let bound = bound.map_or_else(String::new, |bound| format!("{bound}; "));
            txn.execute_unprepared(&format!("{bound}{MARK}")).await?;
        }
        Ok(claimed)
    }

    pub(in crate::store) async fn complete(
        &self,
        txn: &DatabaseTransaction,
        claim: &Claim,
        history: History,
    ) -> Result<Completion, DbErr> {
        still_marked(txn).await?;
        let owned = std::slice::from_ref(&claim.owned);
        if self.fence(txn, claim.member, owned).await?.is_empty() {
            return Ok(Completion::Lost);
        }
        let list = json!([claim.position]).to_string();
        if history == History::Keep {
            execute(txn, &self.sql.keep, [list.as_str().into()]).await?;
        }
        let deleted = txn
            .execute_raw(statement(&self.sql.delete, [list.into()]))
            .await?;
        if let Some(usual) = self.usual() {
            txn.execute_unprepared(&usual).await?;
        }
        Ok(taken_out(&deleted))
    }
}
