//! The kit sees whatever gets an event: handlers of batches and publishers too.

use crate::orders::{Charge, Order, builder, charge, placed};
use outbox_core::{
    Delivery, Envelope, HandlerError, MemoryStore, Outcome, Publisher, Wish, async_trait,
    store::Verdict,
    testing::{Accept, Ending, Faulty, Recorder},
};
use std::time::Duration;

/// Accepts the order in which they stand.
struct Broker;

#[async_trait]
impl Publisher for Broker {
    async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome> {
        let sent = envelopes.iter().map(|envelope| match &*envelope.topic {
            "order.placed" => Ok(()),
            _ => Err(HandlerError::dead("no such subject")),
        });
        sent.collect()
    }
}

/// Refuses the first one, and has no answer for the last one of a batch.
async fn book(batch: Vec<(Charge, Delivery)>) -> Vec<Outcome> {
    let mut answers: Vec<Outcome> = batch.iter().map(|_| Ok(())).collect();
    if batch.len() > 1 {
        answers[0] = Err(HandlerError::dead("no money"));
        answers.pop();
    }
    answers
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_written_down_event_by_event() {
    let store = MemoryStore::new();
    store
        .emit_all((1..=3).map(|order| charge(order, 5)))
        .unwrap();
    let recorder = Recorder::new();
    let dispatcher = builder(&store)
        .on_event::<Order>(Accept)
        .topic(Order::CHARGE, |t| {
            let handler = recorder.wrap(book);
            t.batch(10, handler).linger(Duration::from_secs(1))
        })
        .build()
        .unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    let seen = recorder.seen();
    let told: Vec<_> = seen
        .iter()
        .map(|seen| (seen.together, seen.ending))
        .collect();
    assert_eq!(
        told,
        [
            (3, Ending::Failed(Wish::Dead)),
            (3, Ending::Done),
            (3, Ending::Failed(Wish::Retry)),
            (1, Ending::Done),
        ]
    );
    assert_eq!(seen[2].delivery.id(), seen[3].delivery.id());
    let verdicts = |at: usize| drained.of(seen[at].delivery.id());
    assert!(matches!(verdicts(0)[0].verdict, Verdict::Dead { .. }));
    assert_eq!(verdicts(1)[0].verdict, Verdict::Done);
    assert_eq!(verdicts(2).len(), 2);
    recorder.check_order().unwrap();
    assert!(recorder.duplicates().is_empty());
}

#[tokio::test]
async fn each_event_of_a_batch_meets_its_own_faults() {
    let store = MemoryStore::new();
    store
        .emit_all((1..=3).map(|order| placed(order, 5)))
        .unwrap();
    let (inside, around) = (Recorder::new(), Recorder::new());
    let handler = Faulty::new(inside.handler())
        .fails(1)
        .panics(1)
        .hangs(1)
        .forgets(1);
    let dispatcher = builder(&store)
        .topic(Order::PLACED, |t| {
            t.batch(2, around.wrap(handler))
                .timeout(Duration::from_millis(20))
        })
        .build()
        .unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!(drained.summary.delivered, 3);
    let endings = |recorder: &Recorder, key: &str| -> Vec<_> {
        let seen = recorder.seen().into_iter();
        seen.filter(|seen| seen.delivery.key() == Some(key))
            .map(|seen| seen.ending)
            .collect()
    };
    for key in ["1", "2", "3"] {
        assert_eq!(endings(&inside, key), [Ending::Done, Ending::Done]);
        assert!(endings(&around, key).starts_with(&[Ending::Failed(Wish::Retry)]));
        assert!(endings(&around, key).ends_with(&[Ending::Done]));
    }
    assert_eq!(inside.duplicates().len(), 3);
    assert!(around.duplicates().is_empty());
}

#[tokio::test]
async fn what_is_published_is_written_down_and_meets_its_faults() {
    let store = MemoryStore::new();
    let ids = store.emit_all([placed(1, 5), charge(2, 5)]).unwrap();
    let recorder = Recorder::new();
    let broker = Faulty::new(recorder.wrap(Broker)).fails(1).forgets(1);
    let dispatcher = builder(&store).forward("*", broker).build().unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();

    let verdicts = |id| -> Vec<_> {
        let outcomes = drained.of(id).into_iter();
        outcomes.map(|outcome| outcome.verdict.clone()).collect()
    };
    assert!(matches!(
        *verdicts(ids[0]),
        [Verdict::Retry { .. }, Verdict::Retry { .. }, Verdict::Done]
    ));
    assert!(matches!(
        *verdicts(ids[1]),
        [Verdict::Retry { .. }, Verdict::Dead { .. }]
    ));
    let seen = recorder.seen();
    let charge = seen.iter().find(|seen| seen.delivery.id() == ids[1].id());
    let charge = charge.unwrap();
    assert_eq!(charge.ending, Ending::Failed(Wish::Dead));
    assert_eq!(charge.delivery.topic(), "order.charge");
    assert_eq!(charge.delivery.attempt(), 2);
    assert_eq!(recorder.duplicates().len(), 1);
    recorder.check_order().unwrap();
}

/// Whatever it is registered as.
#[tokio::test]
async fn whatever_is_accepted_is_delivered() {
    let store = MemoryStore::new();
    store.emit_all([placed(1, 5), charge(1, 5)]).unwrap();
    let dispatcher = builder(&store)
        .topic(Order::PLACED, |t| t.batch(2, Accept))
        .forward("*", Accept)
        .build()
        .unwrap();
    assert_eq!(dispatcher.drain().await.unwrap().summary.delivered, 2);
}
