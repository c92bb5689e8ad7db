use crate::support::*;
use outbox_core::{
    BuildError, Delivery, Envelope, HandlerError, MemoryStore, OutboxEvent, Outcome, Publisher,
    TopicOptions, async_trait,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic = "order.step", crate = outbox_core)]
struct Impostor {
    #[outbox(key)]
    order: u32,
}

async fn whole(_: Order, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn charge(_: Charge, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn raw(_: Envelope, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

struct Nowhere;

#[async_trait]
impl Publisher for Nowhere {
    async fn publish(&self, _: &[Envelope]) -> Vec<Outcome> {
        Vec::new()
    }
}

#[test]
fn mistakes_are_found_when_the_dispatcher_is_built() {
    let new = || builder(&MemoryStore::new());
    let error =
        |builder: outbox_core::DispatcherBuilder<MemoryStore>| builder.build().err().unwrap();
    let twice = |topic: &str| BuildError::DuplicateHandler {
        topic: topic.to_owned(),
    };

    assert_eq!(
        error(new().on(Order::CHARGE, charge).on(Order::CHARGE, charge)),
        twice("order.charge")
    );
    assert_eq!(
        error(new().on_event(whole).on_event(whole)),
        twice("order.step")
    );
    assert_eq!(
        error(new().on_event(whole).on_raw("order.mail", raw)),
        twice("order.mail")
    );
    assert!(
        new()
            .on(Order::CHARGE, charge)
            .on_event(whole)
            .build()
            .is_ok()
    );

    let both = new()
        .on_event(whole)
        .on(Impostor::TOPIC, |_, _| async { Ok(()) });
    let message = error(both).to_string();
    assert!(
        message.contains("Order") && message.contains("Impostor"),
        "{message}"
    );

    assert_eq!(
        error(new().topic(Order::CHARGE, |topic| topic.concurrency(1))),
        BuildError::NoHandler {
            topic: "order.charge"
        }
    );
    assert!(matches!(
        error(new().forward("*.placed", Nowhere)),
        BuildError::Pattern { .. }
    ));
    assert!(matches!(
        error(new().concurrency(0)),
        BuildError::Setting { .. }
    ));
    for lease in [Duration::ZERO, Duration::MAX] {
        assert!(matches!(
            error(new().lease(lease)),
            BuildError::Setting { .. }
        ));
    }
    let at_once = |topic: TopicOptions<Charge>| topic.handler(charge).timeout(Duration::ZERO);
    for wrong in [
        new().concurrency(usize::MAX),
        new().configure(|config| config.poll.1 = Duration::MAX),
        new().topic(Order::CHARGE, at_once),
    ] {
        assert!(matches!(error(wrong), BuildError::Setting { .. }));
    }
    let none = new().topic(Order::CHARGE, |topic| topic.handler(charge).concurrency(0));
    assert!(matches!(error(none), BuildError::Setting { .. }));
}
