//! Emitting from SeaORM's hooks, which know a connection only by its trait.
#![expect(
    unreachable_pub,
    reason = "the derive writes public items, which need public types"
)]

use crate::support::{keys, memory, placed};
use outbox_seaorm::Emit;
use sea_orm::{ActiveValue::Set, TransactionTrait, entity::prelude::*};

#[derive(Debug, Clone, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "order")]
pub struct Model {
    #[sea_orm(primary_key)]
    id: i64,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

#[async_trait::async_trait]
impl ActiveModelBehavior for ActiveModel {
    async fn after_save<C: ConnectionTrait>(
        model: Model,
        db: &C,
        _insert: bool,
    ) -> Result<Model, DbErr> {
        db.emit_unchecked(placed(model.id)).await?;
        Ok(model)
    }
}

#[tokio::test]
async fn a_hook_emits_into_the_transaction_it_runs_in() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    ActiveModel { id: Set(1) }.insert(&txn).await.unwrap();
    txn.rollback().await.unwrap();
    assert_eq!(keys(&db).await.len(), 0);

    let txn = db.begin().await.unwrap();
    ActiveModel { id: Set(2) }.insert(&txn).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(keys(&db).await, ["2"]);
}
