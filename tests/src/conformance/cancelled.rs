//! Futures that are dropped: by a time limit, a `select!`, the end of a request (B030).

use super::{Harness, Tables, Thing, as_advised, in_transactions};
use futures_util::future::join_all;
use outbox_seaorm::{EmitError, begin_immediate};
use sea_orm::{DatabaseTransaction, DbErr};
use std::{
    collections::BTreeSet,
    future::{Future, poll_fn},
    sync::{Mutex, PoisonError},
    task::Poll,
    time::Duration,
};
use uuid::Uuid;

/// A transaction that was dropped stores all of its events or none, a commit that has succeeded is
/// one, and nobody gets a connection that is in a transaction of somebody else.
pub async fn what_is_dropped_at_any_moment_is_whole_or_never_was<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let pool = as_advised(&tables.db).await;
    drop_at_random(harness, &Tables::new(&pool, &tables.outbox), 8, 6).await;
}

/// The same through a pool of a test's own, in so many rounds of so many transactions at once.
pub async fn drop_at_random<H: Harness>(
    harness: &H,
    tables: &Tables,
    at_once: usize,
    rounds: usize,
) {
    let book = Book::default();
    // How often something is waited for, when nothing is dropped.
    let mut polls = Vec::new();
    for size in SIZES {
        let mut polled = 0;
        let whole = write(tables, size, &book);
        let mut whole = Box::pin(whole);
        let written = poll_fn(|context| {
            polled += 1;
            whole.as_mut().poll(context)
        });
        written.await.unwrap();
        polls.push(polled);
    }
    let one = async || {
        let kind = fastrand::usize(..SIZES.len());
        let moment = fastrand::usize(..=polls[kind]);
        let linger = Duration::from_millis(fastrand::u64(..4));
        let _ = at_most(write(tables, SIZES[kind], &book), moment, linger).await;
    };
    for _ in 0..rounds {
        join_all((0..at_once).map(|_| one())).await;
        assert_eq!(in_transactions(&tables.db).await, 0);
    }
    // Whoever comes next is not disturbed.
    write(tables, SIZES[0], &book).await.unwrap();

    let pending = harness.pending().await;
    let mut stored: BTreeSet<_> = pending.iter().map(|row| row.id).collect();
    let lock = |list: &Mutex<Vec<Vec<Uuid>>>| {
        let list = list.lock().unwrap_or_else(PoisonError::into_inner);
        list.clone()
    };
    let (ending, committed) = (lock(&book.ending), lock(&book.committed));
    for ids in &committed {
        assert!(ids.iter().all(|id| stored.contains(id)), "lost");
    }
    for ids in &ending {
        let there = ids.iter().filter(|id| stored.remove(*id)).count();
        assert!(there == 0 || there == ids.len(), "{there} of {}", ids.len());
    }
    assert_eq!(stored, BTreeSet::new(), "of no transaction that was ended");
}

/// How many events a transaction emits; many are several statements.
const SIZES: [usize; 3] = [1, 2, 300];

/// The ids of the transactions whose end has begun, and of those that were committed.
#[derive(Debug, Default)]
struct Book {
    ending: Mutex<Vec<Vec<Uuid>>>,
    committed: Mutex<Vec<Vec<Uuid>>>,
}

async fn write(tables: &Tables, size: usize, book: &Book) -> Result<(), DbErr> {
    let txn = begin_immediate(&tables.db).await?;
    let ids = emit(tables, &txn, size).await?;
    let note = |list: &Mutex<Vec<Vec<Uuid>>>| {
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(ids.clone());
    };
    note(&book.ending);
    txn.commit().await?;
    note(&book.committed);
    Ok(())
}

async fn emit(
    tables: &Tables,
    txn: &DatabaseTransaction,
    size: usize,
) -> Result<Vec<Uuid>, EmitError> {
    let text = "x".repeat(2_000);
    if size == 1 {
        let emitted = tables.outbox.emit(txn, Thing::said(&text)).await?;
        return Ok(vec![emitted.id()]);
    }
    // Few have a key each, which is written first.
    let event = |number: usize| {
        let event = Thing::of(&number.to_string(), &text);
        match size {
            2 => event.dedupe_key(Uuid::now_v7().to_string()),
            _ => event,
        }
    };
    let emitted = tables.outbox.emit_all(txn, (0..size).map(event)).await?;
    Ok(emitted.into_iter().map(|emitted| emitted.id()).collect())
}

/// Polls a future so many times, leaves it alone for a moment and drops it, unless it has ended.
async fn at_most<F: Future>(future: F, polls: usize, linger: Duration) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut left = polls;
    let ended = poll_fn(|context| {
        let Some(fewer) = left.checked_sub(1) else {
            return Poll::Ready(None);
        };
        left = fewer;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    });
    let ended = ended.await;
    if ended.is_none() {
        tokio::time::sleep(linger).await;
    }
    ended
}
