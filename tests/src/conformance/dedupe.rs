//! An event with a dedupe key is written once within the key's window (B174).

use super::{Actor, Harness, Tables, Thing};
use outbox_core::{Draft, Emitted, store::Verdict};
use outbox_seaorm::{EmitErrorKind, begin_immediate, is_contention};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, IsolationLevel, TransactionTrait};
use std::time::Duration;
use tokio::task::JoinHandle;
use uuid::Uuid;

const SOON: Duration = Duration::from_millis(400);

async fn emit<H: Harness>(harness: &H, event: Draft) -> Emitted {
    harness.emit_all(vec![event]).await.remove(0)
}

async fn pending<H: Harness>(harness: &H) -> Vec<Uuid> {
    let pending = harness.pending().await;
    pending.iter().map(|row| row.id).collect()
}

/// By anybody, with whatever there is to say; and every other key is another one.
pub async fn a_key_is_emitted_once<H: Harness>(harness: &H) {
    let first = emit(harness, Thing::said("one").dedupe_key("k")).await;
    let Emitted::New(id) = first else {
        unreachable!("{first:?}");
    };
    for event in [Thing::said("one"), Thing::of("b", "two")] {
        let again = emit(harness, event.dedupe_key("k")).await;
        assert_eq!(again, Emitted::Duplicate(id));
    }
    let long = "é".repeat(125);
    let mut ids = vec![id];
    for key in [
        "K",
        " k",
        "k\t",
        "ｋ",
        "k'\"\\`%_",
        "🦀",
        &long,
        "straße",
        "strasse",
        "é",
        "e",
        "e\u{301}",
    ] {
        let other = emit(harness, Thing::said("two").dedupe_key(key)).await;
        assert!(!other.is_duplicate(), "{key}");
        ids.push(other.id());
    }
    assert_eq!(pending(harness).await, ids);
}

/// That it was delivered does not make it new.
pub async fn a_key_is_known_after_the_delivery<H: Harness>(harness: &H) {
    let first = emit(harness, Thing::said("one").dedupe_key("k")).await;
    let owner = Actor::owner(harness).await;
    let row = owner.rows().await.remove(0);
    owner.settle(&row, Verdict::Done).await;
    let again = emit(harness, Thing::said("one").dedupe_key("k")).await;
    assert_eq!(again, Emitted::Duplicate(first.id()));
    assert_eq!(harness.pending().await, []);
}

/// Whether or not anybody has deleted it by then (interleaving 16). The window is that of the event
/// that was written.
pub async fn a_key_is_free_when_its_window_is_over<H: Harness>(harness: &H) {
    let short = || Thing::said("one").dedupe_key("k").dedupe_window(SOON);
    let long = || short().dedupe_window(SOON * 1_000);
    let first = emit(harness, short()).await;
    let again = emit(harness, long()).await;
    assert_eq!(again, Emitted::Duplicate(first.id()));
    harness.pass(SOON).await;
    let second = emit(harness, long()).await;
    assert!(!second.is_duplicate());
    harness.pass(SOON).await;
    let again = emit(harness, short()).await;
    assert_eq!(again, Emitted::Duplicate(second.id()));
    assert_eq!(pending(harness).await, [first.id(), second.id()]);
}

/// The first one is written; the others beside it are not touched (interleaving 29).
pub async fn equal_keys_of_one_call_are_folded<H: Harness>(harness: &H) {
    let known = emit(harness, Thing::said("0").dedupe_key("known")).await;
    let emitted = harness
        .emit_all(vec![
            Thing::said("1").dedupe_key("b"),
            Thing::said("2"),
            Thing::said("3").dedupe_key("known"),
            Thing::said("4").dedupe_key("a"),
            Thing::said("5").dedupe_key("b"),
            Thing::said("6").dedupe_key("known"),
            Thing::said("7"),
        ])
        .await;
    let is_new: Vec<_> = emitted.iter().map(|one| !one.is_duplicate()).collect();
    assert_eq!(is_new, [true, true, false, true, false, false, true]);
    assert_eq!(emitted[4].id(), emitted[0].id());
    assert_eq!((emitted[2].id(), emitted[5].id()), (known.id(), known.id()));
    let written: Vec<_> = [0, 1, 3, 6].map(|n: usize| emitted[n].id()).into();
    assert_eq!(pending(harness).await[1..], written);
}

/// From when it is emitted, not from when it falls due.
pub async fn a_delayed_event_holds_its_key<H: Harness>(harness: &H) {
    let later = || Thing::said("one").after(SOON * 1_000).dedupe_key("k");
    let first = emit(harness, later()).await;
    for event in [later(), Thing::said("now").dedupe_key("k")] {
        let again = emit(harness, event).await;
        assert_eq!(again, Emitted::Duplicate(first.id()));
    }
    assert_eq!(harness.delayed().await, [first.id()]);
    assert_eq!(harness.pending().await, []);
}

/// However many statements they are.
pub async fn many_keys_keep_their_order<H: Harness>(harness: &H) {
    let key = |n: u32| format!("{}-{}", n % 3_000, "x".repeat(100));
    let events = |numbers: std::ops::Range<u32>| {
        let events = numbers.map(|n| Thing::said("x").dedupe_key(key(n)));
        events.collect::<Vec<_>>()
    };
    let first = harness.emit_all(events(0..2_000)).await;
    let second = harness.emit_all(events(1_000..4_000)).await;
    let all = first.iter().chain(&second);
    let new = all.filter(|one| !one.is_duplicate()).map(|one| one.id());
    let new: Vec<_> = new.collect();
    assert_eq!(new.len(), 3_000);
    assert_eq!(pending(harness).await, new);
    for (n, one) in second.iter().enumerate() {
        let expected = (1_000 + n) % 3_000;
        let expected = first.get(expected).unwrap_or(one);
        assert_eq!(one.id(), expected.id());
    }
}

/// Nothing fails: PostgreSQL would commit nothing after that.
pub async fn a_duplicate_leaves_the_transaction_usable<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    tables.run("CREATE TABLE business (n INTEGER)").await;
    emit(harness, Thing::said("one").dedupe_key("k")).await;
    let txn = tables.db.begin().await.unwrap();
    let again = tables.outbox.emit(&txn, Thing::said("one").dedupe_key("k"));
    assert!(again.await.unwrap().is_duplicate());
    let insert = "INSERT INTO business (n) VALUES (1)";
    txn.execute_unprepared(insert).await.unwrap();
    let other = tables.outbox.emit(&txn, Thing::said("two")).await.unwrap();
    txn.commit().await.unwrap();
    let rows = tables.texts("SELECT 'row' AS v FROM business").await;
    assert_eq!(rows, ["row"]);
    assert_eq!(pending(harness).await[1..], [other.id()]);
}

/// What was rolled back has not been emitted, also when a savepoint was.
pub async fn a_key_goes_with_its_transaction<H: Harness>(harness: &H) {
    let event = || Thing::said("one").dedupe_key("k");
    harness.emit_and_roll_back(event()).await;
    let tables = harness.tables().unwrap();
    let outer = tables.db.begin().await.unwrap();
    let inner = outer.begin().await.unwrap();
    let gone = tables.outbox.emit(&inner, event()).await.unwrap();
    assert!(!gone.is_duplicate());
    inner.rollback().await.unwrap();
    let kept = tables.outbox.emit(&outer, event()).await.unwrap();
    assert!(!kept.is_duplicate());
    let again = tables.outbox.emit(&outer, event()).await.unwrap();
    assert_eq!(again, Emitted::Duplicate(kept.id()));
    outer.commit().await.unwrap();
    assert_eq!(pending(harness).await, [kept.id()]);
}

fn keyed(key: &str) -> Draft {
    Thing::said("one").dedupe_key(key)
}

/// Emits with these keys in one transaction, again for as long as another one is in the way.
async fn run(tables: Tables, keys: &'static [&'static str]) -> Vec<Emitted> {
    loop {
        let txn = begin_immediate(&tables.db).await.unwrap();
        let events = keys.iter().map(|key| keyed(key));
        match tables.outbox.emit_all(&txn, events).await {
            Ok(emitted) => match txn.commit().await {
                Ok(()) => return emitted,
                Err(error) => assert!(is_contention(&error), "{error}"),
            },
            Err(error) => assert_eq!(error.kind(), EmitErrorKind::Contention),
        }
    }
}

/// A transaction that has emitted with the key `a`, and one that wants to emit with these and waits.
async fn meet<H: Harness>(
    harness: &H,
    keys: &'static [&'static str],
) -> (DatabaseTransaction, Emitted, JoinHandle<Vec<Emitted>>) {
    let tables = harness.tables().unwrap();
    let first = begin_immediate(&tables.db).await.unwrap();
    let emitted = tables.outbox.emit(&first, keyed("a")).await.unwrap();
    let second = tokio::spawn(run(tables, keys));
    harness.wait_for_waiters().await;
    (first, emitted, second)
}

/// It cannot know before whether the first one commits.
pub async fn one_that_comes_second_waits_and_is_a_duplicate<H: Harness>(harness: &H) {
    let (first, emitted, second) = meet(harness, &["a"]).await;
    first.commit().await.unwrap();
    let second = second.await.unwrap();
    assert_eq!(second, [Emitted::Duplicate(emitted.id())]);
    assert_eq!(pending(harness).await, [emitted.id()]);
}

/// There is nothing then that it could be a duplicate of.
pub async fn one_that_comes_second_is_new_when_the_first_rolls_back<H: Harness>(harness: &H) {
    let (first, _, second) = meet(harness, &["a"]).await;
    first.rollback().await.unwrap();
    let second = second.await.unwrap();
    assert!(!second[0].is_duplicate());
    assert_eq!(pending(harness).await, [second[0].id()]);
}

/// Whoever waits for a key holds none that comes after it (interleaving 16).
pub async fn keys_are_taken_in_their_order<H: Harness>(harness: &H) {
    // Had the second taken the others already, it would have done more than the first, and of the two
    // in a deadlock InnoDB ends the one that has done less.
    let (first, a, second) = meet(harness, &["c", "d", "e", "f", "a", "b"]).await;
    let tables = harness.tables().unwrap();
    let c = tables.outbox.emit(&first, keyed("c")).await.unwrap();
    first.commit().await.unwrap();
    let second = second.await.unwrap();
    assert_eq!(
        [second[0], second[4]],
        [c, a].map(|one| Emitted::Duplicate(one.id()))
    );
    assert!(!second[5].is_duplicate());
}

/// However many come at once.
pub async fn of_many_that_emit_with_one_key_one_is_new<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let emits = (0..32).map(|_| tokio::spawn(run(tables.clone(), &["a"])));
    let mut all = Vec::new();
    for emit in emits.collect::<Vec<_>>() {
        all.extend(emit.await.unwrap());
    }
    let written = pending(harness).await;
    assert_eq!(written.len(), 1);
    assert!(all.iter().all(|one| one.id() == written[0]));
    let new = all.iter().filter(|one| !one.is_duplicate());
    assert_eq!(new.count(), 1);
}

/// One that began before and sees what was there then: on PostgreSQL it cannot know the other's event,
/// and is to be run again (interleaving 16).
pub async fn one_that_began_before_is_a_duplicate_or_is_to_run_again<H: Harness>(harness: &H) {
    let Some(tables) = Tables::of_many_writers(harness) else {
        return;
    };
    let begin = || {
        let isolation = Some(IsolationLevel::RepeatableRead);
        tables.db.begin_with_config(isolation, None)
    };
    let outbox = &tables.outbox;
    let first = begin().await.unwrap();
    let emitted = outbox.emit(&first, keyed("a")).await.unwrap();
    let second = begin().await.unwrap();
    outbox.emit(&second, Thing::said("two")).await.unwrap();
    // A SELECT takes a snapshot on every server.
    let look = tables.render("SELECT count(*) FROM \"outbox_dedupe\"");
    second.execute_unprepared(&look).await.unwrap();
    first.commit().await.unwrap();
    let duplicate = Emitted::Duplicate(emitted.id());
    match outbox.emit(&second, keyed("a")).await {
        Ok(again) => {
            assert_eq!(again, duplicate);
            second.commit().await.unwrap();
            assert_eq!(harness.pending().await.len(), 2);
        }
        Err(error) => {
            assert_eq!(error.kind(), EmitErrorKind::Contention);
            assert_eq!(tables.backend(), DbBackend::Postgres);
            second.rollback().await.unwrap();
        }
    }
    let third = begin().await.unwrap();
    let again = outbox.emit(&third, keyed("a")).await.unwrap();
    assert_eq!(again, duplicate);
    third.rollback().await.unwrap();
}

/// Two transactions that emit the same keys one by one, each in its own order.
pub async fn opposite_orders_are_a_deadlock_that_one_is_told_of<H: Harness>(harness: &H) {
    let Some(tables) = Tables::of_many_writers(harness) else {
        return;
    };
    let (first, second) = (tables.db.begin(), tables.db.begin());
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    let outbox = &tables.outbox;
    outbox.emit(&first, keyed("a")).await.unwrap();
    outbox.emit(&second, keyed("b")).await.unwrap();
    let end = async |txn: DatabaseTransaction, key| match outbox.emit(&txn, keyed(key)).await {
        Ok(_) => match txn.commit().await {
            Ok(()) => None,
            // Under SERIALIZABLE it may be told at the end.
            Err(error) if is_contention(&error) => Some(EmitErrorKind::Contention),
            Err(error) => unreachable!("{error}"),
        },
        Err(error) => txn.rollback().await.map(|()| Some(error.kind())).unwrap(),
    };
    let ends = tokio::join!(end(first, "b"), end(second, "a"));
    let (lost, won) = (ends.0.or(ends.1), ends.0.and(ends.1));
    assert_eq!((lost, won), (Some(EmitErrorKind::Contention), None));
    assert_eq!(harness.pending().await.len(), 2);
}
