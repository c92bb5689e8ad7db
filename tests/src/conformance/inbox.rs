//! A consumer acts once on what it gets twice (B170, B172).

use super::{Harness, Tables};
use outbox_seaorm::{
    Inbox, begin_immediate, entity,
    inbox::{Begun, Claim, InboxErrorKind, Message, Once},
    is_contention,
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, TransactionTrait};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use uuid::Uuid;

pub(super) const SOON: Duration = Duration::from_millis(400);

/// A consumer's name that needs care.
pub(super) const CONSUMER: &str = "mails 'ü🦀'";

/// A database with a table of the application, and a consumer's inbox.
pub(super) async fn inbox<H: Harness>(harness: &H) -> (Tables, Inbox) {
    let tables = harness.tables().unwrap();
    tables.run("CREATE TABLE work (n INTEGER)").await;
    let inbox = Inbox::builder(CONSUMER).outbox(&tables.outbox).lease(SOON);
    (tables, inbox.build().unwrap())
}

pub(super) async fn work(txn: &DatabaseTransaction) -> Result<(), DbErr> {
    let sql = "INSERT INTO work (n) VALUES (1)";
    txn.execute_unprepared(sql).await.map(drop)
}

pub(super) async fn works(tables: &Tables) -> usize {
    let rows = tables.texts("SELECT 'row' AS v FROM work").await;
    rows.len()
}

pub(super) fn fresh(begun: Begun) -> Claim {
    match begun {
        Begun::Fresh(claim) => claim,
        other => unreachable!("{other:?}"),
    }
}

/// Work that fails leaves the message new.
pub async fn a_message_is_worked_on_once<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let event = Uuid::now_v7();
    let fails = async |txn: &DatabaseTransaction| {
        work(txn).await?;
        Err::<(), _>(DbErr::Custom("no".to_owned()))
    };
    inbox.once(&tables.db, event, fails).await.unwrap_err();
    assert_eq!(works(&tables).await, 0);
    let done = inbox.once(&tables.db, event, work).await.unwrap();
    assert_eq!(done, Once::Done(()));
    for _ in 0..2 {
        let again = inbox.once(&tables.db, event, work).await.unwrap();
        assert_eq!(again, Once::Duplicate);
    }
    let other = inbox.once(&tables.db, Uuid::now_v7(), work).await.unwrap();
    assert_eq!(other, Once::Done(()));
    assert_eq!(works(&tables).await, 2);
}

/// What one consumer has done is new to the others (B172).
pub async fn every_consumer_has_its_own_inbox<H: Harness>(harness: &H) {
    let (tables, first) = inbox(harness).await;
    let event = Uuid::now_v7();
    first.once(&tables.db, event, work).await.unwrap();
    let long = "é".repeat(100);
    for consumer in ["MAILS 'Ü🦀'", "mails 'u🦀'", "mails", &long] {
        let other = Inbox::builder(consumer).outbox(&tables.outbox);
        let other = other.build().unwrap();
        let done = other.once(&tables.db, event, work).await.unwrap();
        assert_eq!(done, Once::Done(()), "{consumer}");
        let again = other.once(&tables.db, event, work).await.unwrap();
        assert!(again.is_duplicate());
    }
    assert_eq!(works(&tables).await, 5);
    let rows = tables.outbox.find::<entity::inbox::Entity>();
    let rows = rows.all(&tables.db).await.unwrap();
    assert_eq!(rows.len(), 5);
    let of = |row: &entity::inbox::Model| {
        (
            row.event_id,
            row.replay_id,
            row.tries,
            row.done_at.is_some(),
        )
    };
    assert!(
        rows.iter()
            .all(|row| of(row) == (event, Uuid::nil(), 1, true))
    );
}

/// For consumers that are to act again, once.
pub async fn a_replay_can_be_another_message<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let event = Message::event(Uuid::now_v7());
    let replays = [Uuid::now_v7(), Uuid::now_v7()];
    for message in [event, event.replay(replays[0]), event.replay(replays[1])] {
        let done = inbox.once(&tables.db, message, work).await.unwrap();
        assert_eq!(done, Once::Done(()));
        let again = inbox.once(&tables.db, message, work).await.unwrap();
        assert_eq!(again, Once::Duplicate);
    }
}

/// A transaction of the application, which goes on after a duplicate.
pub async fn a_message_is_recorded_in_a_transaction<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let (event, other) = (Uuid::now_v7(), Uuid::now_v7());
    let txn = tables.db.begin().await.unwrap();
    assert!(inbox.record(&txn, event).await.unwrap());
    assert!(!inbox.record(&txn, event).await.unwrap());
    txn.rollback().await.unwrap();
    let txn = tables.db.begin().await.unwrap();
    assert!(inbox.record(&txn, event).await.unwrap());
    txn.commit().await.unwrap();
    let txn = tables.db.begin().await.unwrap();
    assert!(!inbox.record(&txn, event).await.unwrap());
    assert!(inbox.record(&txn, other).await.unwrap());
    work(&txn).await.unwrap();
    txn.commit().await.unwrap();
    assert_eq!(works(&tables).await, 1);
    assert!(
        inbox
            .once(&tables.db, other, work)
            .await
            .unwrap()
            .is_duplicate()
    );
}

/// While somebody is at a message, nobody else is; after that it is done.
pub async fn a_message_is_begun_and_completed<H: Harness>(harness: &H) {
    let (tables, _) = inbox(harness).await;
    let inbox = Inbox::builder(CONSUMER).outbox(&tables.outbox);
    let inbox = inbox.build().unwrap();
    let event = Uuid::now_v7();
    let begin = || inbox.begin(&tables.db, event);
    let claim = fresh(begin().await.unwrap());
    assert_eq!(claim.unknown(), 0);
    assert!(matches!(begin().await.unwrap(), Begun::InProgress));
    let error = inbox.once(&tables.db, event, async |_| Ok(()));
    let error: outbox_seaorm::inbox::InboxError = error.await.unwrap_err();
    assert_eq!(error.kind(), InboxErrorKind::InProgress);
    claim.complete(&tables.db).await.unwrap();
    claim.complete(&tables.db).await.unwrap();
    assert!(matches!(begin().await.unwrap(), Begun::Done));
    assert!(
        inbox
            .once(&tables.db, event, work)
            .await
            .unwrap()
            .is_duplicate()
    );
}

/// Whoever died may have done the work or not: whoever comes next is told.
pub async fn a_message_that_was_left_is_fresh_after_its_lease<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let event = Uuid::now_v7();
    let mut claims = Vec::new();
    for unknown in 0..3 {
        let claim = fresh(inbox.begin(&tables.db, event).await.unwrap());
        assert_eq!(claim.unknown(), unknown);
        claims.push(claim);
        harness.pass(SOON).await;
    }
    // It was not dead, only slow: what it did is done.
    claims[0].complete(&tables.db).await.unwrap();
    assert!(matches!(
        inbox.begin(&tables.db, event).await.unwrap(),
        Begun::Done
    ));
}

/// Work that was not done is nothing unknown, and waits for nobody.
pub async fn a_message_that_was_released_is_as_before<H: Harness>(harness: &H) {
    let (tables, short) = inbox(harness).await;
    let inbox = Inbox::builder(CONSUMER).outbox(&tables.outbox);
    let inbox = inbox.build().unwrap();
    let event = Uuid::now_v7();
    let begin = || inbox.begin(&tables.db, event);
    for _ in 0..2 {
        let claim = fresh(begin().await.unwrap());
        assert_eq!(claim.unknown(), 0);
        claim.release(&tables.db).await.unwrap();
    }
    let late = fresh(short.begin(&tables.db, event).await.unwrap());
    harness.pass(SOON).await;
    let claim = fresh(begin().await.unwrap());
    assert_eq!(claim.unknown(), 1);
    // It is another's by now.
    late.release(&tables.db).await.unwrap();
    assert!(matches!(begin().await.unwrap(), Begun::InProgress));
    claim.release(&tables.db).await.unwrap();
    let done = inbox.once(&tables.db, event, work).await.unwrap();
    assert_eq!(done, Once::Done(()));
}

/// Redelivers until nobody is in the way.
async fn deliver(
    tables: Tables,
    inbox: Inbox,
    event: Uuid,
    fails: Arc<AtomicBool>,
) -> Result<Once<()>, DbErr> {
    loop {
        let step = async |txn: &DatabaseTransaction| {
            work(txn).await?;
            match fails.swap(false, Relaxed) {
                true => Err(DbErr::Custom("no".to_owned())),
                false => Ok(()),
            }
        };
        match inbox.once(&tables.db, event, step).await {
            Err(error) if is_contention(&error) => {}
            done => return done,
        }
    }
}

/// The first one that gets so far fails, and one of the others does the work (B170).
pub async fn of_many_copies_one_is_worked_on<H: Harness>(harness: &H) {
    let (tables, inbox) = inbox(harness).await;
    let (event, fails) = (Uuid::now_v7(), Arc::new(AtomicBool::new(true)));
    let copies = (0..32).map(|_| {
        let (tables, inbox) = (tables.clone(), inbox.clone());
        tokio::spawn(deliver(tables, inbox, event, Arc::clone(&fails)))
    });
    let (mut done, mut failed) = (0, 0);
    for copy in copies.collect::<Vec<_>>() {
        match copy.await.unwrap() {
            Ok(Once::Done(())) => done += 1,
            Ok(Once::Duplicate) => {}
            Err(DbErr::Custom(_)) => failed += 1,
            Err(other) => unreachable!("{other}"),
        }
    }
    assert_eq!((done, failed, works(&tables).await), (1, 1, 1));
}

/// The same for calls to the outside.
pub async fn of_many_copies_one_is_begun<H: Harness>(harness: &H) {
    let (tables, _) = inbox(harness).await;
    let inbox = Inbox::builder(CONSUMER).outbox(&tables.outbox);
    let (inbox, event) = (inbox.build().unwrap(), Uuid::now_v7());
    let copies = (0..32).map(|_| {
        let (tables, inbox) = (tables.clone(), inbox.clone());
        tokio::spawn(async move { inbox.begin(&tables.db, event).await.unwrap() })
    });
    let mut claims = Vec::new();
    for copy in copies.collect::<Vec<_>>() {
        match copy.await.unwrap() {
            Begun::Fresh(claim) => claims.push(claim),
            Begun::InProgress => {}
            Begun::Done => unreachable!("nobody has completed it"),
        }
    }
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].unknown(), 0);
}

/// A copy comes while another one has recorded the message and not committed.
async fn second<H: Harness>(harness: &H, first_commits: bool) -> (Once<()>, usize) {
    let (tables, inbox) = inbox(harness).await;
    let event = Uuid::now_v7();
    let first = begin_immediate(&tables.db).await.unwrap();
    assert!(inbox.record(&first, event).await.unwrap());
    work(&first).await.unwrap();
    let fails = Arc::new(AtomicBool::new(false));
    let second = tokio::spawn(deliver(tables.clone(), inbox, event, fails));
    harness.wait_for_waiters().await;
    match first_commits {
        true => first.commit().await.unwrap(),
        false => first.rollback().await.unwrap(),
    }
    (second.await.unwrap().unwrap(), works(&tables).await)
}

/// It cannot know before whether the first one commits.
pub async fn a_second_copy_waits_and_is_a_duplicate<H: Harness>(harness: &H) {
    assert_eq!(second(harness, true).await, (Once::Duplicate, 1));
}

/// There is nothing then that it could be a duplicate of.
pub async fn a_second_copy_is_worked_on_when_the_first_fails<H: Harness>(harness: &H) {
    assert_eq!(second(harness, false).await, (Once::Done(()), 1));
}
