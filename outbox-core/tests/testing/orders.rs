use outbox_core::{
    Delivery, Dispatcher, DispatcherBuilder, HandlerError, MemoryStore, OutboxEvent,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", crate = outbox_core)]
pub(crate) enum Order {
    Placed {
        #[outbox(key)]
        order: u32,
        cents: u64,
    },
    #[outbox(key = order)]
    Charge(Charge),
    #[outbox(unordered)]
    Mail {
        #[outbox(key)]
        order: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) order: u32,
    pub(crate) cents: u64,
}

/// Of another type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "customer", crate = outbox_core)]
pub(crate) struct Registered {
    #[outbox(key)]
    pub(crate) customer: String,
}

pub(crate) fn placed(order: u32, cents: u64) -> Order {
    Order::Placed { order, cents }
}

pub(crate) fn charge(order: u32, cents: u64) -> Order {
    Order::Charge(Charge { order, cents })
}

pub(crate) async fn accept(_: Order, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

pub(crate) fn builder(store: &MemoryStore) -> DispatcherBuilder<MemoryStore> {
    Dispatcher::builder(store.clone())
}
