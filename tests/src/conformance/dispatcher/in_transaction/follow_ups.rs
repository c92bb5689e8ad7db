//! What is emitted in a handler's transaction.

use super::super::{Account, Scene, follow_ups::FollowUp};
use crate::conformance::Harness;
use outbox_core::{Delivery, HandlerError};
use outbox_seaorm::{Outbox, SeaOrmStore, TransactionalHandler};
use sea_orm::DatabaseTransaction;

/// As of every other handler.
pub async fn what_is_emitted_in_a_transaction_carries_on<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let follow_up = FollowUp::in_scene(scene);
    let tell = Tell {
        outbox: scene.harness.tables().unwrap().outbox,
        follow_up: follow_up.clone(),
    };
    follow_up
        .assert_carried_on(|builder| builder.on_transactional(Account::CHANGED, tell))
        .await;
}

/// Emits the second event.
struct Tell<H> {
    outbox: Outbox,
    follow_up: FollowUp<H>,
}

impl<H> TransactionalHandler<Account, DatabaseTransaction> for Tell<H>
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    async fn handle(
        &self,
        event: Account,
        delivery: Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        if self.follow_up.comes(event.text(), &delivery) {
            let second = Account::changed("x", "second");
            self.outbox.emit(txn, second).await?;
        }
        Ok(())
    }
}
