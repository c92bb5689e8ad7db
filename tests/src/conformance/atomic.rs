//! The event is there if and only if the transaction commits.

use super::{Actor, Harness, Thing};
use outbox_core::{Draft, OutboxEvent};
use outbox_seaorm::{EmitErrorKind, InvalidEventKind, Outbox};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, TransactionTrait};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// An event with names of its own making.
#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "map", unordered, crate = outbox_core)]
struct Mapped {
    lines: Vec<BTreeMap<String, String>>,
}

/// What was committed is found by the owner.
pub async fn an_event_of_a_committed_transaction_is_there<H: Harness>(harness: &H) {
    let id = harness.emit(Thing::said("one")).await;
    let rows = Actor::owner(harness).await.rows().await;
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [id]);
}

/// What was rolled back has left nothing.
pub async fn an_event_of_a_rolled_back_transaction_never_was<H: Harness>(harness: &H) {
    harness.emit_and_roll_back(Thing::said("one")).await;
    harness
        .emit_and_roll_back(Thing::said("two").after(Actor::<H::Store>::LEASE))
        .await;
    assert_eq!(harness.pending().await, []);
    assert!(harness.delayed().await.is_empty());
    assert_eq!(Actor::owner(harness).await.rows().await, []);
}

/// However it comes to that: dropped, by an error or a panic in a closure (B031).
pub async fn whatever_ends_a_transaction_takes_its_events_along<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let emit = async |txn: &DatabaseTransaction| {
        let later = Thing::said("later").after(Duration::from_secs(3_600));
        let all = [Thing::said("one"), later.dedupe_key("k")];
        tables.outbox.emit_all(txn, all).await.map(drop)
    };
    let txn = tables.db.begin().await.unwrap();
    emit(&txn).await.unwrap();
    drop(txn);
    let failed = tables.db.transaction_async(async |txn| {
        emit(txn).await?;
        Err::<(), _>(DbErr::Custom("changed our mind".to_owned()))
    });
    failed.await.unwrap_err();
    let task = tokio::spawn({
        let tables = tables.clone();
        async move {
            let txn = tables.db.begin().await.unwrap();
            let one = Thing::said("one");
            tables.outbox.emit(&txn, one).await.unwrap();
            unreachable!("as the test wants")
        }
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(harness.pending().await, []);
    assert!(harness.delayed().await.is_empty());
    // Nor is the key of what never was taken.
    let txn = tables.db.begin().await.unwrap();
    let again = Thing::said("one").dedupe_key("k");
    let emitted = tables.outbox.emit(&txn, again).await.unwrap();
    assert!(!emitted.is_duplicate());
    txn.commit().await.unwrap();
}

/// What no database could store is found before any SQL, so that the transaction goes on (B001).
pub async fn what_is_refused_leaves_the_transaction_usable<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let txn = tables.db.begin().await.unwrap();
    let emit = async |event: Draft| tables.outbox.emit(&txn, event).await;
    let refused = [
        Thing::said("a\0b"),
        Thing::of("a\0b", "x"),
        Thing::said("x").header("note", "\0"),
        mapped("a\0b", "x"),
        mapped("a", "x\0"),
    ];
    let places = [
        "payload has a NUL character (U+0000) at text,",
        "key has",
        "header note has",
        "at lines[1][\"a\\0b\"],",
        "at lines[1].a,",
    ];
    for (event, place) in refused.into_iter().zip(places) {
        let error = emit(event).await.unwrap_err();
        let expected = EmitErrorKind::Invalid(InvalidEventKind::Nul);
        assert_eq!(error.kind(), expected);
        let told = error.to_string();
        assert!(told.contains(place), "{told}");
    }
    let error = emit(Thing::said("x").dedupe_key("a\0")).await.unwrap_err();
    let expected = EmitErrorKind::Invalid(InvalidEventKind::DedupeKey);
    assert_eq!(error.kind(), expected);
    let good = emit(Thing::said("a\\u0000b")).await.unwrap();
    txn.commit().await.unwrap();
    let rows = Actor::owner(harness).await.rows().await;
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids, [good.id()]);
    let payload = &rows[0].body.as_ref().unwrap().payload;
    let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
    assert_eq!(payload["text"], "a\\u0000b");
}

fn mapped(name: &str, text: &str) -> Draft {
    let line = BTreeMap::from([(name.to_owned(), text.to_owned())]);
    let lines = vec![BTreeMap::new(), line];
    Draft::new(&Mapped { lines })
}

/// Events are rows: savepoints mean for them what they mean for every row (B032).
pub async fn a_savepoint_takes_its_own_events_along<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let outer = tables.db.begin().await.unwrap();
    let before = tables.outbox.emit(&outer, Thing::said("before")).await;
    let inner = outer.begin().await.unwrap();
    tables
        .outbox
        .emit(&inner, Thing::said("gone"))
        .await
        .unwrap();
    inner.rollback().await.unwrap();
    let inner = outer.begin().await.unwrap();
    let kept = tables.outbox.emit(&inner, Thing::said("kept")).await;
    inner.commit().await.unwrap();
    outer.commit().await.unwrap();

    let outer = tables.db.begin().await.unwrap();
    let inner = outer.begin().await.unwrap();
    tables
        .outbox
        .emit(&inner, Thing::said("gone"))
        .await
        .unwrap();
    inner.commit().await.unwrap();
    outer.rollback().await.unwrap();
    let pending = harness.pending().await;
    let ids: Vec<_> = pending.iter().map(|row| row.id).collect();
    assert_eq!(ids, [before.unwrap().id(), kept.unwrap().id()]);
}

/// Making them would commit what the application has not committed (B041).
pub async fn missing_tables_are_told_and_never_made<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    tables.run("CREATE TABLE business (n INTEGER)").await;
    let missing = Outbox::builder().prefix("missing_").build().unwrap();
    let txn = tables.db.begin().await.unwrap();
    let sql = "INSERT INTO business (n) VALUES (1)";
    txn.execute_unprepared(sql).await.unwrap();
    let error = missing.emit(&txn, Thing::said("x")).await.unwrap_err();
    assert_eq!(error.kind(), EmitErrorKind::NotMigrated);
    txn.rollback().await.unwrap();
    let rows = tables.texts("SELECT 'row' AS v FROM business").await;
    assert_eq!(rows, [] as [&str; 0]);
}

/// However many there are, and however many fit into a statement (B013).
pub async fn many_events_are_all_or_nothing_and_keep_their_order<H: Harness>(harness: &H) {
    let counts = [(0, true), (1, true), (5_000, false), (5_000, true)];
    so_many_are_all_or_nothing_and_keep_their_order(harness, &counts).await;
}

/// The same for more than every test has time for.
pub async fn a_hundred_thousand_events_are_all_or_nothing_and_keep_their_order<H: Harness>(
    harness: &H,
) {
    let counts = [(100_000, false), (100_000, true)];
    so_many_are_all_or_nothing_and_keep_their_order(harness, &counts).await;
}

async fn so_many_are_all_or_nothing_and_keep_their_order<H: Harness>(
    harness: &H,
    counts: &[(usize, bool)],
) {
    let tables = harness.tables().unwrap();
    for &(count, commits) in counts {
        let before = harness.pending().await.len();
        let txn = tables.db.begin().await.unwrap();
        let events = (0..count).map(|number| Thing::said(&number.to_string()));
        let ids = tables.outbox.emit_all(&txn, events).await.unwrap();
        assert_eq!(ids.len(), count);
        match commits {
            true => txn.commit().await.unwrap(),
            false => txn.rollback().await.unwrap(),
        }
        let pending = harness.pending().await;
        let stored: Vec<_> = pending[before..].iter().map(|row| row.id).collect();
        let ids = ids.into_iter().map(|emitted| emitted.id()).collect();
        assert_eq!(stored, if commits { ids } else { Vec::new() });
    }
}
