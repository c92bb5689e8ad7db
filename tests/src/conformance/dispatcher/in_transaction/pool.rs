//! Handlers with transactions open, and everybody else who needs a connection.

use super::{
    super::{Account, Scene, ok, scene::spawn},
    books::Books,
};
use crate::conformance::Harness;
use outbox_core::{Delivery, HandlerError, store::TransactionalStore};
use outbox_seaorm::{Dispatcher, SeaOrmStore, TransactionalHandler};
use sea_orm::{DatabaseConnection, DatabaseTransaction};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
use tokio::sync::Semaphore;

/// Fetches, settles, transactions and plain handlers take turns where there is one connection for
/// all of them. No law: it needs pools of the same outbox, of a size.
pub async fn pools_of_any_size_are_enough<H, Fut>(scene: &Scene<H>, open: impl Fn(u32) -> Fut)
where
    H: Harness<Store = SeaOrmStore> + 'static,
    Fut: Future<Output = DatabaseConnection>,
{
    let outbox = scene.harness.tables().unwrap().outbox;
    let mut books = Books::of(scene).await;
    for (connections, at_once) in [(1, 1), (2, 1), (3, 1), (4, 2)] {
        let pool = open(connections).await;
        let store = SeaOrmStore::new(&pool, &outbox);
        assert_eq!(store.room().at_once, at_once);
        for number in 0..60 {
            let text = ["fine", "error", "fine", "swallow", "panic", "fine"][number % 6];
            let account = format!("x{connections}-{}", number % 8);
            books.change(&account, text).await;
        }
        let dispatcher = spawn(books.booking(store).on(Account::NOTED, move |_, _| {
            let pool = pool.clone();
            async move { Ok(pool.ping().await?) }
        }));
        scene.pending(0).await;
        dispatcher.shutdown().await;
    }
    books.assert_right().await;
}

/// The dispatcher and plain handlers work with the same pool.
pub async fn transactions_leave_connections_to_others<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let store = scene.harness.store();
    let room = store.room();
    for number in 0..room.at_once + 5 {
        let draft = Account::changed(&format!("x{number}"), "1");
        scene.emit_draft(draft, "1").await;
    }
    let (go_on, running) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let wait = Wait {
        go_on: Arc::clone(&go_on),
        running: Arc::clone(&running),
    };
    let dispatcher = Dispatcher::builder(store)
        .on_transactional(Account::CHANGED, wait)
        .on(Account::CLOSED, |event: Account, delivery| {
            ok(event.text().to_owned(), delivery)
        });
    let dispatcher = spawn(dispatcher);
    let full = || async { running.load(SeqCst) == room.at_once };
    scene.until("as many run as may", full).await;
    if !room.exclusive {
        scene.emit_draft(Account::closed("y", "1"), "1").await;
        scene.pending(room.at_once + 5).await;
    }
    assert_eq!(running.load(SeqCst), room.at_once);
    go_on.add_permits(room.at_once + 5);
    scene.pending(0).await;
    dispatcher.shutdown().await;
}

/// Waits until it may go on.
struct Wait {
    go_on: Arc<Semaphore>,
    running: Arc<AtomicUsize>,
}

impl TransactionalHandler<Account, DatabaseTransaction> for Wait {
    async fn handle(
        &self,
        _: Account,
        _: Delivery,
        _: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        self.running.fetch_add(1, SeqCst);
        self.go_on.acquire().await?.forget();
        Ok(())
    }
}
