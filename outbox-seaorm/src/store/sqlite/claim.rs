use super::{Sqlite, begin, hex, listed, statement};
use crate::{
    store::claim::{having, taken_out},
    whole::{is_nested, left_open, mark, still_marked},
};
use outbox_core::store::{Claim, Completion, History};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};

impl Sqlite {
    pub(in crate::store) async fn claim(
        &self,
        db: &DatabaseConnection,
        claim: &Claim,
    ) -> Result<Option<DatabaseTransaction>, DbErr> {
        let txn = begin(db).await?;
        let named = [claim.position.into(), hex(claim.id).into()];
        let claimed = having(txn, statement(&self.sql.claim, named)).await?;
        if let Some(txn) = &claimed {
            mark(txn).await?;
        }
        Ok(claimed)
    }

    pub(in crate::store) async fn complete(
        &self,
        txn: &DatabaseTransaction,
        claim: &Claim,
        history: History,
    ) -> Result<Completion, DbErr> {
        if is_nested(txn).await? {
            return Err(left_open());
        }
        still_marked(txn).await?;
        if self.fence(txn, claim.member, &claim.owned).await?.is_none() {
            return Ok(Completion::Lost);
        }
        let list = listed(&[claim.position]);
        if history == History::Keep {
            txn.execute_raw(statement(&self.sql.keep, list.clone()))
                .await?;
        }
        let deleted = txn.execute_raw(statement(&self.sql.delete, list)).await?;
        Ok(taken_out(&deleted))
    }
}
