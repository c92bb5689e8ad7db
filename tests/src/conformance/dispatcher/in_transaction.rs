//! Handlers that work in the transactions that complete their events: what they do in the database
//! happens exactly once.

use super::{
    Account, Scene,
    follow_ups::{Seen, assert_carried_on, see},
    ok,
    scene::spawn,
};
use crate::{
    conformance::{Actor, Effects, Harness},
    watched::{Moment, Verb, Watched},
};
use outbox_core::{
    Delivery, Dispatcher, DispatcherBuilder, HandlerError, RetryPolicy,
    store::{Claim, Completion, History, Store, StoreErrorKind, TransactionalStore},
};
use outbox_seaorm::{Outbox, SeaOrmStore, TransactionalHandler};
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Books what has changed, and tells of it.
#[derive(Clone)]
struct Book {
    outbox: Outbox,
    /// What the first attempts do instead, where the event says so.
    fails: bool,
}

impl Book {
    async fn book(
        &self,
        delivery: &Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        Effects::add(txn, delivery).await?;
        let key = delivery.key().unwrap_or("-");
        let noted = Account::noted(key, &delivery.id().to_string());
        self.outbox.emit(txn, noted).await?;
        Ok(())
    }
}

impl TransactionalHandler<Account, DatabaseTransaction> for Book {
    async fn handle(
        &self,
        event: Account,
        delivery: Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        self.book(&delivery, txn).await?;
        if self.fails && delivery.attempt() == 1 {
            match event.text() {
                "error" => return Err(HandlerError::retry_after(Duration::ZERO, "for now")),
                "panic" => unreachable!("so it is said"),
                "hang" => std::future::pending::<()>().await,
                "swallow" => {
                    // On PostgreSQL the transaction is of no use any more.
                    let sql = "INSERT INTO no_such_table VALUES (1)";
                    let _ = txn.execute_unprepared(sql).await;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A dispatcher whose handler of changes books them.
fn booking<S>(store: S, outbox: &Outbox, fails: bool) -> DispatcherBuilder<S>
where
    S: TransactionalStore<Transaction = DatabaseTransaction>,
{
    let outbox = outbox.clone();
    let pause = Duration::from_millis(20);
    let retry = RetryPolicy::new(pause, pause * 2, 1_000).unwrap();
    Dispatcher::<S>::builder(store)
        .retry(retry)
        .topic(Account::CHANGED, |topic| {
            let timeout = Duration::from_millis(300);
            topic.transactional(Book { outbox, fails }).timeout(timeout)
        })
        .on(Account::NOTED, |event: Account, delivery| {
            ok(event.text().to_owned(), delivery)
        })
}

/// What is booked of each account: once, in its order. And what was told of it, once.
async fn assert_booked<H>(scene: &Scene<H>, effects: &Effects, events: &[(String, Uuid)])
where
    H: Harness + 'static,
{
    let booked = effects.all().await;
    for (account, booked) in &booked {
        let of = events.iter().filter(|(key, _)| key == account);
        let of: Vec<_> = of.map(|(_, id)| *id).collect();
        assert_eq!(*booked, of, "{account}");
    }
    let count: usize = booked.values().map(Vec::len).sum();
    assert_eq!(count, events.len());
    let delivered = scene.harness.delivered().await;
    assert_eq!(
        delivered.len(),
        2 * events.len(),
        "each tells of itself once"
    );
    let at_first = delivered.iter().filter(|row| row.attempts == 0).count();
    assert!(at_first >= events.len());
}

/// Errors, panics, hangs, and errors of the database that a handler does not report.
pub async fn effects_of_failing_handlers_happen_once<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let tables = scene.harness.tables().unwrap();
    let effects = Effects::beside(tables.clone()).await;
    let mut events = Vec::new();
    for round in 0..2_usize {
        for (turn, key) in ["a", "b", "c"].into_iter().enumerate() {
            // Not all at the same time: that would be an outage.
            let mut texts = ["fine", "error", "panic", "fine", "hang", "swallow", "fine"];
            texts.rotate_left(2 * turn + round);
            for text in texts {
                let (key, text) = (format!("{key}{round}"), text.to_owned());
                let id = scene.emit_draft(Account::changed(&key, &text), &text).await;
                events.push((key, id));
            }
        }
    }
    let dispatcher = spawn(booking(scene.harness.store(), &tables.outbox, true));
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_booked(scene, &effects, &events).await;
}

/// A plain handler's success that is not written yet would come again after what commits now.
pub async fn what_comes_before_is_written_before<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let tables = scene.harness.tables().unwrap();
    let effects = Effects::beside(tables.clone()).await;
    let store = Watched::new(scene.harness.store());
    store.fail(|call| {
        let settles = call.verb == Verb::Settle && call.moment == Moment::Before;
        settles.then_some(StoreErrorKind::Unavailable)
    });
    scene
        .emit_draft(Account::closed("x", "plain"), "plain")
        .await;
    let changed = scene
        .emit_draft(Account::changed("x", "booked"), "booked")
        .await;
    let handled = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&handled);
    let close = move |_: Account, _: Delivery| {
        let counting = Arc::clone(&counting);
        async move {
            counting.fetch_add(1, SeqCst);
            Ok(())
        }
    };
    let builder = booking(store.clone(), &tables.outbox, false).on(Account::CLOSED, close);
    let dispatcher = spawn(builder);
    let is_handled = || async { handled.load(SeqCst) == 1 };
    scene.until("the plain handler has run", is_handled).await;
    // Another account's has its turn meanwhile.
    let other = scene
        .emit_draft(Account::changed("y", "booked"), "booked")
        .await;
    let booked = || async { effects.all().await.contains_key("y") };
    scene.until("the other account is booked", booked).await;
    assert_eq!(effects.all().await.get("x"), None);
    store.mend();
    scene.pending(0).await;
    dispatcher.shutdown().await;
    let effects = effects.all().await;
    assert_eq!(
        (&effects["x"], &effects["y"]),
        (&vec![changed], &vec![other])
    );
}

/// Whether or not it was carried out.
pub async fn a_lost_answer_of_a_commit_repeats_nothing<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let tables = scene.harness.tables().unwrap();
    let effects = Effects::beside(tables.clone()).await;
    let mut events = Vec::new();
    for number in 0..24 {
        let key = format!("x{}", number % 3);
        let id = scene
            .emit_draft(Account::changed(&key, "fine"), "fine")
            .await;
        events.push((key, id));
    }
    let store = Watched::new(scene.harness.store());
    let calls = AtomicUsize::new(0);
    store.fail(move |call| {
        if call.verb != Verb::Complete {
            return None;
        }
        // Some are not carried out, some are without an answer, some go well.
        let fails = matches!(
            (calls.fetch_add(1, SeqCst) % 5, call.moment),
            (0 | 3, Moment::Before) | (2 | 4, Moment::After)
        );
        fails.then_some(StoreErrorKind::Unavailable)
    });
    let dispatcher = spawn(booking(store, &tables.outbox, false));
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_booked(scene, &effects, &events).await;
}

/// Interleaving 11: it stands still with its transaction open, and is not taken for gone.
pub async fn nobody_starts_behind_a_handler_of_a_former_owner<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let store = scene.harness.store();
    if store.room().exclusive {
        println!("skipped: nobody takes over while a transaction is open");
        return;
    }
    let tables = scene.harness.tables().unwrap();
    let effects = Effects::beside(tables.clone()).await;
    let mut events = Vec::new();
    for text in ["1", "2"] {
        let id = scene.emit_draft(Account::changed("x", text), text).await;
        events.push(("x".to_owned(), id));
    }
    let former = Actor::owner(&*scene.harness).await;
    let row = former.rows().await.remove(0);
    let claim = Claim::new(former.member.id, former.of(row.shard), row.position, row.id);
    let txn = store.claim(&claim).await.unwrap().unwrap();
    Effects::add_of(&txn, "x", row.id).await.unwrap();
    let other = Actor::join(&*scene.harness).await;
    other.evict(&former).await;
    other.store.leave(other.member.id).await.unwrap();

    // Everybody else is served, also of the same shard: who takes over does not wait.
    for number in 0..70 {
        let key = format!("y{number}");
        let id = scene.emit_draft(Account::changed(&key, "1"), "1").await;
        events.push((key, id));
    }
    let dispatcher = spawn(booking(scene.harness.store(), &tables.outbox, false));
    let others = || async { effects.all().await.len() == 70 };
    scene.until("the others are booked", others).await;
    assert_eq!(effects.all().await.get("x"), None);
    let completed = store.complete(txn, &claim, History::Keep).await;
    assert_eq!(completed.unwrap(), Completion::Lost);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_booked(scene, &effects, &events).await;
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
    let dispatcher = Dispatcher::<SeaOrmStore>::builder(store)
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

/// As of every other handler.
pub async fn what_is_emitted_in_a_transaction_carries_on<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let tell = Tell {
        outbox: scene.harness.tables().unwrap().outbox,
        seen: Seen::default(),
    };
    let seen = Arc::clone(&tell.seen);
    let builder = scene.bare_dispatcher();
    let dispatcher = spawn(builder.on_transactional(Account::CHANGED, tell));
    assert_carried_on(scene, (seen, dispatcher), Account::changed("x", "first")).await;
}

/// Emits a second event.
struct Tell {
    outbox: Outbox,
    seen: Seen,
}

impl TransactionalHandler<Account, DatabaseTransaction> for Tell {
    async fn handle(
        &self,
        event: Account,
        delivery: Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        see(&self.seen, event.text(), &delivery);
        if event.text() == "first" {
            let second = Account::changed("x", "second");
            self.outbox.emit(txn, second).await?;
        }
        Ok(())
    }
}
