//! What the work on a message leaves behind: a message is done when its work is stored, and not before.

use super::{
    Harness,
    inbox::{CONSUMER, SOON, fresh, inbox, work, works},
};
use outbox_core::store::{Kept, Store};
use outbox_seaorm::{
    Inbox,
    inbox::{Begun, InboxError, Once},
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, TransactionTrait};
use std::time::Duration;
use uuid::Uuid;

/// A nested transaction that is left to somebody would be what commits.
pub async fn work_that_leaves_a_transaction_open_is_not_done<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let event = Uuid::now_v7();
    for _ in 0..3 {
        let leaves = async |txn: &DatabaseTransaction| {
            work(txn).await?;
            let nested = txn.begin().await?;
            work(&nested).await?;
            Ok::<_, DbErr>(nested)
        };
        let done = inbox.once(&tables.db, event, leaves).await;
        let told = done.map(|_| ()).unwrap_err().to_string();
        assert!(told.contains("nested transaction"), "{told}");
        assert_eq!(works(&tables).await, 0);
    }
    let ends = async |txn: &DatabaseTransaction| {
        let nested = txn.begin().await?;
        work(&nested).await?;
        nested.commit().await?;
        txn.begin().await?.rollback().await
    };
    let done = inbox.once(&tables.db, event, ends).await.unwrap();
    assert_eq!((done, works(&tables).await), (Once::Done(()), 1));
}

/// What it did after that was committed one by one; the message comes again.
pub async fn work_that_ends_its_transaction_is_not_done<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let event = Uuid::now_v7();
    let ends = async |txn: &DatabaseTransaction| {
        work(txn).await?;
        txn.execute_unprepared("ROLLBACK").await.map(drop)
    };
    inbox.once(&tables.db, event, ends).await.unwrap_err();
    let done = inbox.once(&tables.db, event, work).await.unwrap();
    assert_eq!((done, works(&tables).await), (Once::Done(()), 1));
}

/// PostgreSQL reports a commit and stores nothing; the others store the rest.
pub async fn work_that_goes_on_after_an_error_is_done_if_it_is_stored<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let event = Uuid::now_v7();
    let swallows = async |txn: &DatabaseTransaction| {
        work(txn).await?;
        let _ = txn
            .execute_unprepared("INSERT INTO nowhere VALUES (1)")
            .await;
        Ok::<_, DbErr>(())
    };
    let done = inbox.once(&tables.db, event, swallows).await;
    let stores = tables.backend() != DbBackend::Postgres;
    assert_eq!(
        (done.is_ok(), works(&tables).await),
        (stores, usize::from(stores))
    );
    let again = inbox.once(&tables.db, event, work).await.unwrap();
    assert_eq!((again.is_duplicate(), works(&tables).await), (stores, 1));
}

/// Nothing of it is there, and the message is new.
pub async fn work_that_panics_or_is_dropped_is_not_done<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let event = Uuid::now_v7();
    for panics in [true, false] {
        let (tables, inbox) = (tables.clone(), inbox.clone());
        let never = async move |txn: &DatabaseTransaction| {
            work(txn).await?;
            assert!(!panics, "as it should");
            std::future::pending::<Result<(), DbErr>>().await
        };
        let copy = async move { inbox.once(&tables.db, event, never).await.map(drop) };
        let limit = Duration::from_millis(300);
        let ended = tokio::spawn(tokio::time::timeout(limit, copy)).await;
        assert_eq!(ended.is_err(), panics);
    }
    assert_eq!(works(&tables).await, 0);
    let done = inbox.once(&tables.db, event, work).await.unwrap();
    assert_eq!((done, works(&tables).await), (Once::Done(()), 1));
}

/// Whoever is not sure that it was given back may give it back again: what was unknown stays so.
pub async fn a_message_is_given_back_once<H: Harness>(harness: &H) {
    let (tables, short) = inbox(harness).await;
    let event = Uuid::now_v7();
    let given = fresh(short.begin(&tables.db, event).await.unwrap());
    for _ in 0..3 {
        given.clone().release(&tables.db).await.unwrap();
    }
    let left = fresh(short.begin(&tables.db, event).await.unwrap());
    assert_eq!(left.unknown(), 0);
    harness.pass(2 * SOON).await;
    let claim = fresh(short.begin(&tables.db, event).await.unwrap());
    assert_eq!(claim.unknown(), 1);
}

/// However long that takes; and whoever completes it later has done it all the same.
pub async fn a_message_in_work_is_not_forgotten<H: Harness>(harness: &H) {
    let (tables, short) = inbox(harness).await;
    let inbox = Inbox::builder(CONSUMER).outbox(&tables.outbox);
    let inbox: Result<Inbox, InboxError> = inbox.build();
    let (inbox, store) = (inbox.unwrap(), harness.store());
    let prune = || store.prune(Kept::Inbox, Duration::ZERO, 10);
    let [event, other] = [Uuid::now_v7(), Uuid::now_v7()];
    let claim = fresh(inbox.begin(&tables.db, event).await.unwrap());
    let late = fresh(short.begin(&tables.db, other).await.unwrap());
    harness.pass(2 * SOON).await;
    assert_eq!(prune().await.unwrap(), 1);
    let begun = inbox.begin(&tables.db, event).await.unwrap();
    assert!(matches!(begun, Begun::InProgress), "{begun:?}");
    for (claim, event) in [(claim, event), (late, other)] {
        claim.complete(&tables.db).await.unwrap();
        claim.complete(&tables.db).await.unwrap();
        let begun = inbox.begin(&tables.db, event).await.unwrap();
        assert!(matches!(begun, Begun::Done), "{begun:?}");
    }
}
