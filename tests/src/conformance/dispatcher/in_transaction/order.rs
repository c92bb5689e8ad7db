//! What comes before a handler's transaction is over, also where somebody else did it.

use super::{
    super::{Account, Scene, scene::spawn},
    books::Books,
};
use crate::{
    conformance::{Actor, Effects, Harness},
    watched::{Moment, Verb, Watched},
};
use outbox_core::{
    Delivery,
    store::{Claim, Completion, History, Store, StoreErrorKind, TransactionalStore},
};
use outbox_seaorm::SeaOrmStore;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

/// A plain handler's success that is not written yet would come again after what commits now.
pub async fn what_comes_before_is_written_before<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let mut books = Books::of(scene).await;
    let store = Watched::new(scene.harness.store());
    store.fail(|call| {
        let settles = call.verb == Verb::Settle && call.moment == Moment::Before;
        settles.then_some(StoreErrorKind::Unavailable)
    });
    scene
        .emit_draft(Account::closed("x", "plain"), "plain")
        .await;
    let changed = books.change("x", "booked").await;
    let handled = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&handled);
    let close = move |_: Account, _: Delivery| {
        let counting = Arc::clone(&counting);
        async move {
            counting.fetch_add(1, SeqCst);
            Ok(())
        }
    };
    let builder = books.dispatcher_over(store.clone());
    let dispatcher = spawn(builder.on(Account::CLOSED, close));
    let is_handled = || async { handled.load(SeqCst) == 1 };
    scene.until("the plain handler has run", is_handled).await;
    // Another account's has its turn meanwhile.
    let other = books.change("y", "booked").await;
    let booked = || async { books.booked().await.contains_key("y") };
    scene.until("the other account is booked", booked).await;
    assert_eq!(books.booked().await.get("x"), None);
    store.mend();
    scene.pending(0).await;
    dispatcher.shutdown().await;
    let booked = books.booked().await;
    assert_eq!((&booked["x"], &booked["y"]), (&vec![changed], &vec![other]));
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
    let mut books = Books::of(scene).await;
    for text in ["1", "2"] {
        books.change("x", text).await;
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
        books.change(&format!("y{number}"), "1").await;
    }
    let dispatcher = spawn(books.dispatcher());
    let others = || async { books.booked().await.len() == 70 };
    scene.until("the others are booked", others).await;
    assert_eq!(books.booked().await.get("x"), None);
    let completed = store.complete(txn, &claim, History::Keep).await;
    assert_eq!(completed.unwrap(), Completion::Lost);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    books.assert_right().await;
}
