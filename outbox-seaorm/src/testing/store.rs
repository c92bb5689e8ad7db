use super::{emitted, time};
use crate::store::{SeaOrmStore, StoreError};
use outbox_core::testing::{EmittedEvents, TestStore};
use std::time::Duration;

impl TestStore for SeaOrmStore {
    async fn emitted(&self) -> Result<EmittedEvents, StoreError> {
        emitted::read(self.db(), self.outbox()).await
    }

    async fn advance(&self, time: Duration) -> Result<(), StoreError> {
        time::advance_with(self.outbox(), self.db(), time).await
    }
}
