//! The test kit sees transactional handlers too.

use super::super::{Account, Scene};
use crate::conformance::{Effects, Harness};
use outbox_core::{
    Delivery, HandlerError,
    store::Verdict,
    testing::{Ending, Faulty, Recorder},
};
use outbox_seaorm::SeaOrmStore;
use sea_orm::DatabaseTransaction;
use std::time::Duration;

/// Its success is written by its own transaction, whose work is rolled back where it fails.
pub async fn a_transactional_handler_is_seen_as_any_other<H>(scene: &Scene<H>)
where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    async fn book(
        _: Account,
        delivery: Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        Ok(Effects::add(txn, &delivery).await?)
    }
    let effects = Effects::beside(scene.harness.tables().unwrap()).await;
    let (first, second) = (
        scene.emit("a", "first").await,
        scene.emit("a", "second").await,
    );
    let recorder = Recorder::new();
    let handler = Faulty::new(recorder.wrap(book))
        .fails(1)
        .panics(1)
        .hangs(1)
        .forgets(1);
    let dispatcher = scene.bare_dispatcher().topic(Account::CHANGED, |topic| {
        let limit = Duration::from_millis(100);
        topic.transactional(handler).timeout(limit)
    });
    let dispatcher = dispatcher.build().unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();

    assert_eq!((drained.summary.delivered, drained.summary.retried), (2, 8));
    let written: Vec<_> = drained
        .outcomes
        .iter()
        .map(|outcome| (outcome.event.id, outcome.verdict == Verdict::Done))
        .collect();
    let of = |id| [false, false, false, false, true].map(|done| (id, done));
    assert_eq!(written, [of(first), of(second)].concat());
    let done = drained.of(second)[4];
    assert_eq!((done.attempts, &*done.event.topic), (5, "account.changed"));
    // Twice it was done, and once it was rolled back.
    let endings: Vec<_> = recorder.seen().iter().map(|seen| seen.ending).collect();
    assert_eq!(endings, [Ending::Done; 4]);
    assert_eq!(recorder.duplicates().len(), 2);
    recorder.check_order().unwrap();
    assert_eq!(effects.all().await["a"], [first, second]);
}
