use super::{MySql, execute, statement};
use crate::store::claim::having;
use outbox_core::store::{Claim, Completion, History};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, TransactionTrait};
use serde_json::json;

/// It is gone when the transaction is: after a deadlock, or DDL, the server has ended it, and what
/// comes next would be committed one by one.
const SAVEPOINT: &str = "outbox_claim";

impl MySql {
    pub(in crate::store) async fn claim(
        &self,
        db: &DatabaseConnection,
        claim: &Claim,
    ) -> Result<Option<DatabaseTransaction>, DbErr> {
        let txn = db.begin().await?;
        let claimed = having(
            txn,
            statement(&self.sql.claim, [claim.position.into(), claim.id.into()]),
        )
        .await?;
        if let Some(txn) = &claimed {
            txn.execute_unprepared(&format!("SAVEPOINT {SAVEPOINT}"))
                .await?;
        }
        Ok(claimed)
    }

    pub(in crate::store) async fn complete(
        &self,
        txn: &DatabaseTransaction,
        claim: &Claim,
        history: History,
    ) -> Result<Completion, DbErr> {
        txn.execute_unprepared(&format!("RELEASE SAVEPOINT {SAVEPOINT}"))
            .await?;
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
        Ok(match deleted.rows_affected() {
            0 => Completion::Gone,
            _ => Completion::Written,
        })
    }
}
