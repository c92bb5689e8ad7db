//! Handlers that fail, and a database that does.

use super::{
    super::{Scene, scene::spawn},
    books::Books,
};
use crate::{
    conformance::Harness,
    watched::{Moment, Verb, Watched},
};
use outbox_core::store::StoreErrorKind;
use outbox_seaorm::SeaOrmStore;
use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

/// Errors, panics, hangs, and errors of the database that a handler does not report.
pub async fn effects_of_failing_handlers_happen_once<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let mut books = Books::of(scene).await;
    for round in 0..2_usize {
        for (turn, key) in ["a", "b", "c"].into_iter().enumerate() {
            // Not all at the same time: that would be an outage.
            let mut texts = ["fine", "error", "panic", "fine", "hang", "swallow", "fine"];
            texts.rotate_left(2 * turn + round);
            for text in texts {
                books.change(&format!("{key}{round}"), text).await;
            }
        }
    }
    let dispatcher = spawn(books.dispatcher());
    scene.pending(0).await;
    dispatcher.shutdown().await;
    books.assert_right().await;
}

/// Whether or not it was carried out.
pub async fn a_lost_answer_of_a_commit_repeats_nothing<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let mut books = Books::of(scene).await;
    for number in 0..24 {
        books.change(&format!("x{}", number % 3), "fine").await;
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
    let dispatcher = spawn(books.dispatcher_over(store));
    scene.pending(0).await;
    dispatcher.shutdown().await;
    books.assert_right().await;
}

/// No longer than for a handler; and what is committed behind its back is not done again.
pub async fn a_stop_waits_for_no_commit_that_hangs<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    let mut books = Books::of(scene).await;
    books.change("x", "fine").await;
    let store = Watched::new(scene.harness.store());
    let gate = store.hold(Verb::Complete);
    let grace = Duration::from_secs(1);
    let dispatcher = spawn(books.dispatcher_over(store).grace(grace));
    gate.reached(1).await;
    // Of a hang, not of how fast the machine is.
    let limit = grace + Duration::from_secs(10);
    let stopped = tokio::time::timeout(limit, dispatcher.shutdown()).await;
    assert!(stopped.is_ok(), "it waits for the commit");
    gate.open();
    let next = spawn(books.dispatcher());
    scene.pending(0).await;
    next.shutdown().await;
    books.assert_right().await;
}
