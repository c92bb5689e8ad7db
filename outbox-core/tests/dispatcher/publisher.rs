use crate::support::*;
use outbox_core::{Envelope, HandlerError, MemoryStore, Outcome, Publisher, async_trait};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

#[derive(Default)]
struct Broker {
    slices: Mutex<Vec<Vec<String>>>,
    answer_only: Option<usize>,
}

struct To(Arc<Broker>);

#[async_trait]
impl Publisher for To {
    async fn publish(&self, envelopes: &[Envelope]) -> Vec<Outcome> {
        let keys: Vec<_> = envelopes.iter().map(Envelope::partition_key).collect();
        let ordered = envelopes
            .iter()
            .filter(|event| event.ordered)
            .map(Envelope::partition_key);
        let different: HashSet<_> = ordered.clone().collect();
        assert_eq!(
            different.len(),
            ordered.count(),
            "one event of an aggregate at a time"
        );
        self.0.slices.lock().unwrap().push(keys);
        let answers = envelopes
            .iter()
            .map(|event| match event.payload.contains("\"step\":13}") {
                true => Err(HandlerError::dead("refused")),
                false => Ok(()),
            });
        answers
            .take(self.0.answer_only.unwrap_or(usize::MAX))
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn publishers_take_slices_and_answer_per_event() {
    let store = MemoryStore::new();
    let broker = Arc::new(Broker::default());
    store
        .emit_all((0..400).map(|number| step(number % 200, number)))
        .unwrap();
    let dispatcher = spawn(builder(&store).forward("order.*", To(Arc::clone(&broker))));
    until("published", || store.delivered().len() == 398).await;
    assert_eq!(store.dead().len(), 1, "13 blocks 213");
    assert_eq!(store.pending().len(), 1);
    let slices = broker.slices.lock().unwrap().clone();
    assert!(
        slices.len() < 100,
        "slices, not single events: {}",
        slices.len()
    );
    dispatcher.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_without_an_answer_is_tried_again() {
    let store = MemoryStore::new();
    let broker = Arc::new(Broker {
        answer_only: Some(1),
        ..Broker::default()
    });
    store
        .emit_all((0..3).map(|number| step(number, number)))
        .unwrap();
    let dispatcher = spawn(builder(&store).forward("*", To(broker)));
    until("published", || store.delivered().len() == 3).await;
    assert!(store.delivered().iter().any(|event| event.attempts > 0));
    dispatcher.shutdown().await;
}
