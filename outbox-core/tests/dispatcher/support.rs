use outbox_core::{
    CancellationToken, Delivery, Dispatcher, DispatcherBuilder, DispatcherHandle, HandlerError,
    MemoryStore, OutboxEvent, RetryPolicy,
};
use serde::{Deserialize, Serialize};
use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", crate = outbox_core)]
pub(crate) enum Order {
    Step {
        #[outbox(key)]
        order: u32,
        step: u32,
    },
    #[outbox(unordered)]
    Mail {
        #[outbox(key)]
        order: u32,
        step: u32,
    },
    #[outbox(key = order)]
    Charge(Charge),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub order: u32,
    pub cents: u64,
}

pub(crate) fn step(order: u32, step: u32) -> Order {
    Order::Step { order, step }
}

pub(crate) fn mail(order: u32, step: u32) -> Order {
    Order::Mail { order, step }
}

/// What handlers were given, in the order in which they finished well.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<(u32, u32)>>>);

impl Log {
    pub(crate) fn push(&self, order: u32, step: u32) {
        self.0.lock().unwrap().push((order, step));
    }

    pub(crate) fn all(&self) -> Vec<(u32, u32)> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn of(&self, order: u32) -> Vec<u32> {
        let steps = |(found, step): &(u32, u32)| (*found == order).then_some(*step);
        self.0.lock().unwrap().iter().filter_map(steps).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

pub(crate) fn builder(store: &MemoryStore) -> DispatcherBuilder<MemoryStore> {
    Dispatcher::builder(store.clone()).retry(RetryPolicy::quick().retries(3))
}

/// A dispatcher that hands every event to `handle` and logs those that succeed.
pub(crate) fn dispatcher<F, Fut>(
    store: &MemoryStore,
    log: &Log,
    handle: F,
) -> DispatcherBuilder<MemoryStore>
where
    F: Fn(u32, u32, Delivery) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send,
{
    let log = log.clone();
    let handle = Arc::new(handle);
    builder(store).on_event(move |event: Order, delivery: Delivery| {
        let (log, handle) = (log.clone(), Arc::clone(&handle));
        async move {
            let (order, step) = match event {
                Order::Step { order, step } | Order::Mail { order, step } => (order, step),
                Order::Charge(charge) => (charge.order, 0),
            };
            handle(order, step, delivery).await?;
            log.push(order, step);
            Ok(())
        }
    })
}

pub(crate) async fn ok(_: u32, _: u32, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

pub(crate) fn spawn(builder: DispatcherBuilder<MemoryStore>) -> DispatcherHandle {
    builder.spawn(CancellationToken::new()).unwrap()
}

/// Waits, in virtual time, until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..200_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never: {what}");
}

pub(crate) async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}
