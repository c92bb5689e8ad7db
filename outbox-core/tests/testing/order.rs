//! The order that a recorder checks, on deliveries that no dispatcher would make.

use crate::orders::{Order, placed};
use outbox_core::{
    Delivery, Handler, HandlerError, MemoryStore, OnDead, RetryPolicy,
    operator::LetterFilter,
    testing::{Faulty, Recorder, Rule},
};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Deliveries of the events 1, 2 and 3 of an aggregate.
async fn deliveries() -> Vec<Delivery> {
    let store = MemoryStore::new();
    store
        .emit_all((1..=3).map(|cents| placed(7, cents)))
        .unwrap();
    let recorder = Recorder::new();
    let dispatcher = crate::orders::builder(&store).on_event(recorder.wrap(crate::orders::accept));
    dispatcher.build().unwrap().drain().await.unwrap();
    recorder.check_order().unwrap();
    recorder.done("order.placed")
}

#[derive(Clone, Copy)]
enum Then {
    Done,
    Fails,
    Dies,
}
use Then::{Dies, Done, Fails};

/// The rule that these deliveries break, one after the other.
async fn broken(story: &[(usize, Then)]) -> Option<Rule> {
    let deliveries = deliveries().await;
    let recorder = Recorder::new();
    for &(event, then) in story {
        let result = move || match then {
            Done => Ok(()),
            Fails => Err(HandlerError::retry("no")),
            Dies => Err(HandlerError::dead("no")),
        };
        let handler = recorder.wrap(move |_: Order, _: Delivery| {
            let result = result();
            async move { result }
        });
        let delivery = deliveries[event - 1].clone();
        let _ = handler.handle(placed(7, 1), delivery).await;
    }
    recorder.check_order().err().map(|disorder| disorder.rule())
}

#[tokio::test]
async fn events_come_in_their_order() {
    assert_eq!(broken(&[]).await, None);
    assert_eq!(broken(&[(1, Done), (2, Done), (3, Done)]).await, None);
    assert_eq!(broken(&[(1, Fails), (1, Done), (2, Done)]).await, None);
    assert_eq!(broken(&[(2, Done), (1, Done)]).await, Some(Rule::InOrder));
    let early = [(1, Done), (3, Done), (2, Done)];
    assert_eq!(broken(&early).await, Some(Rule::InOrder));
}

#[tokio::test]
async fn a_suffix_may_be_repeated_and_nothing_else() {
    let suffix = [(1, Done), (2, Done), (1, Done), (2, Done), (3, Done)];
    assert_eq!(broken(&suffix).await, None);
    assert_eq!(broken(&[(1, Done), (2, Done), (2, Done)]).await, None);
    let lone = [(1, Done), (2, Done), (1, Done)];
    assert_eq!(broken(&lone).await, Some(Rule::SuffixesRepeat));
    let jump = [(1, Done), (2, Done), (1, Done), (3, Done), (2, Done)];
    assert_eq!(broken(&jump).await, Some(Rule::SuffixesRepeat));
    let twice = [(1, Done), (2, Done), (1, Fails), (1, Done), (2, Done)];
    assert_eq!(broken(&twice).await, None);
}

#[tokio::test]
async fn who_was_given_up_is_not_waited_for() {
    assert_eq!(broken(&[(1, Dies), (2, Done)]).await, None);
    assert_eq!(broken(&[(1, Dies), (2, Done), (1, Done)]).await, None);
}

#[tokio::test]
async fn events_of_an_aggregate_come_one_at_a_time() {
    let deliveries = deliveries().await;
    let recorder = Recorder::new();
    let gate = Arc::new(Mutex::new(()));
    let held = gate.clone().lock_owned().await;
    let handler = recorder.wrap(move |_: Order, _: Delivery| {
        let gate = Arc::clone(&gate);
        async move {
            let _held = gate.lock().await;
            Ok(())
        }
    });
    let first = handler.handle(placed(7, 1), deliveries[0].clone());
    let second = handler.handle(placed(7, 2), deliveries[1].clone());
    let release = async { drop(held) };
    let _ = tokio::join!(first, second, release);
    let disorder = recorder.check_order().unwrap_err();
    assert_eq!(disorder.rule(), Rule::OneAtATime);
    assert_eq!(disorder.event(), deliveries[1].id());
    let text = disorder.to_string();
    assert!(text.contains("came while another one"), "{text}");
    assert!(text.contains("position 2, attempt 1: done"), "{text}");
}

/// By a dispatcher: an event is given up, the next ones go on, and it is brought back.
#[tokio::test]
async fn a_letter_that_is_brought_back_breaks_no_order() {
    let store = MemoryStore::new();
    store
        .emit_all((1..=3).map(|cents| placed(7, cents)))
        .unwrap();
    let recorder = Recorder::new();
    let fails_first = |order: Order, delivery: Delivery| async move {
        let first = order == placed(7, 1);
        match first && delivery.headers().text("mended").is_none() {
            true => Err(HandlerError::retry("no")),
            false => Ok(()),
        }
    };
    let dispatcher = crate::orders::builder(&store)
        .topic(Order::PLACED, |t| {
            t.handler(recorder.wrap(fails_first))
                .retry(RetryPolicy::never())
                .on_dead(OnDead::Continue)
        })
        .build()
        .unwrap();
    dispatcher.fast_forward().await.unwrap();
    assert_eq!(recorder.done("order.placed").len(), 2);
    let operator = outbox_core::Operator::<MemoryStore>::new(store, "alice");
    let letters = operator.letters(&LetterFilter::all(), 0).await.unwrap();
    let _ = operator
        .retry(letters.items[0].position, "again")
        .await
        .unwrap();
    dispatcher.fast_forward().await.unwrap();
    assert_eq!(recorder.seen().len(), 4);
    recorder.check_order().unwrap();
}

/// Those of unordered topics, and of other aggregates, do not count.
#[tokio::test]
async fn only_ordered_events_have_an_order() {
    let store = MemoryStore::new();
    store
        .emit_all([7, 7, 8].map(|order| Order::Mail { order }))
        .unwrap();
    store.emit_all([placed(7, 1), placed(8, 1)]).unwrap();
    let recorder = Recorder::new();
    let handler = Faulty::new(recorder.handler()).forgets(1);
    let dispatcher = crate::orders::builder(&store).on_event::<Order>(handler);
    dispatcher.build().unwrap().fast_forward().await.unwrap();
    assert_eq!(recorder.seen().len(), 10);
    recorder.check_order().unwrap();
}
