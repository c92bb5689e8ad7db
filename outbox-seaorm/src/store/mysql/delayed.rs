use super::{MySql, execute, statement};
use outbox_core::store::{MemberId, Moved, Owned};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use serde_json::json;
use uuid::Uuid;

impl MySql {
    /// Exactly the rows that were locked while they were due move: two statements see two `now`s,
    /// and rows that were emitted between them.
    pub(in crate::store) async fn move_due(
        &self,
        db: &DatabaseConnection,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, DbErr> {
        let txn = self.begin(db).await?;
        let moved = self.move_due_in(&txn, member, owned, limit).await;
        self.end(txn, moved).await
    }

    async fn move_due_in(
        &self,
        txn: &DatabaseTransaction,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, DbErr> {
        // A list of ids stays below 256 KiB.
        let limit = i64::try_from(limit.min(4096)).unwrap_or(i64::MAX);
        let fenced = self.fence(txn, member, std::slice::from_ref(owned)).await?;
        if fenced.is_empty() {
            return Ok(Moved::Lost);
        }
        let values = [owned.shard.into(), limit.into()];
        let rows = txn.query_all_raw(statement(&self.sql.due, values)).await?;
        let ids = rows
            .iter()
            .map(|row| {
                let id: Uuid = row.try_get("", "id")?;
                Ok(json!(format!("{:x}", id.simple())))
            })
            .collect::<Result<Vec<_>, DbErr>>()?;
        let moved = ids.len();
        if moved > 0 {
            let ids = serde_json::Value::from(ids).to_string();
            execute(txn, &self.sql.move_in, [ids.as_str().into()]).await?;
            execute(txn, &self.sql.move_out, [ids.into()]).await?;
        }
        Ok(Moved::Events(moved))
    }
}
