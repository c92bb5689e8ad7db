use super::super::{Account, Scene, ok, scene::quick};
use crate::conformance::{Effects, Harness, Tables};
use outbox_core::{Delivery, DispatcherBuilder, HandlerError, store::TransactionalStore};
use outbox_seaorm::{Outbox, SeaOrmStore, TransactionalHandler};
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use std::{collections::BTreeMap, time::Duration};
use uuid::Uuid;

/// A book of what has changed, in the database of a scene, and the changes that belong into it.
pub(super) struct Books<'a, H> {
    scene: &'a Scene<H>,
    tables: Tables,
    effects: Effects,
    changes: Vec<(String, Uuid)>,
}

impl<'a, H> Books<'a, H>
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    pub(super) async fn of(scene: &'a Scene<H>) -> Self {
        let tables = scene.harness.tables().unwrap();
        Self {
            scene,
            effects: Effects::beside(tables.clone()).await,
            tables,
            changes: Vec::new(),
        }
    }

    /// Emits a change.
    pub(super) async fn change(&mut self, account: &str, text: &str) -> Uuid {
        let id = self
            .scene
            .emit_draft(Account::changed(account, text), text)
            .await;
        self.changes.push((account.to_owned(), id));
        id
    }

    /// A dispatcher whose handler books each change once.
    pub(super) fn dispatcher(&self) -> DispatcherBuilder<SeaOrmStore> {
        self.dispatcher_over(self.scene.harness.store())
    }

    /// The same over another store.
    pub(super) fn dispatcher_over<S>(&self, store: S) -> DispatcherBuilder<S>
    where
        S: TransactionalStore<Transaction = DatabaseTransaction>,
    {
        self.booking(store)
            .on(Account::NOTED, |event: Account, delivery| {
                ok(event.text().to_owned(), delivery)
            })
    }

    /// The same without a handler of what is told.
    pub(super) fn booking<S>(&self, store: S) -> DispatcherBuilder<S>
    where
        S: TransactionalStore<Transaction = DatabaseTransaction>,
    {
        let outbox = self.tables.outbox.clone();
        quick(store).topic(Account::CHANGED, |topic| {
            let timeout = Duration::from_millis(300);
            topic.transactional(Book { outbox }).timeout(timeout)
        })
    }

    /// What is booked of each account.
    pub(super) async fn booked(&self) -> BTreeMap<String, Vec<Uuid>> {
        self.effects.all().await
    }

    /// All changes are booked: once, in the order of their accounts. And what was told of each, once.
    pub(super) async fn assert_right(&self) {
        let booked = self.booked().await;
        for (account, booked) in &booked {
            let of = self.changes.iter().filter(|(key, _)| key == account);
            let of: Vec<_> = of.map(|(_, id)| *id).collect();
            assert_eq!(*booked, of, "{account}");
        }
        let count: usize = booked.values().map(Vec::len).sum();
        assert_eq!(count, self.changes.len());
        let delivered = self.scene.harness.delivered().await;
        assert_eq!(delivered.len(), 2 * count, "each tells of itself once");
        let at_first = delivered.iter().filter(|row| row.attempts == 0).count();
        assert!(at_first >= count);
    }
}

/// Books what has changed, and tells of it.
#[derive(Clone)]
struct Book {
    outbox: Outbox,
}

impl TransactionalHandler<Account, DatabaseTransaction> for Book {
    async fn handle(
        &self,
        event: Account,
        delivery: Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        Effects::add(txn, &delivery).await?;
        let key = delivery.key().unwrap_or("-");
        let noted = Account::noted(key, &delivery.id().to_string());
        self.outbox.emit(txn, noted).await?;
        if delivery.attempt() > 1 {
            return Ok(());
        }
        // What the first attempts do instead, where the event says so.
        match event.text() {
            "error" => Err(HandlerError::retry_after(Duration::ZERO, "for now")),
            "panic" => unreachable!("so it is said"),
            "hang" => std::future::pending().await,
            "swallow" => {
                // On PostgreSQL the transaction is of no use any more.
                let sql = "INSERT INTO no_such_table VALUES (1)";
                let _ = txn.execute_unprepared(sql).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
