use crate::support::*;
use outbox_core::{
    BuildError, Catalogue, Delivery, Envelope, HandlerError, MemoryStore, OutboxEvent, Outcome,
    Publisher, TopicOptions, Unhandled, async_trait,
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
    let at_once =
        |topic: TopicOptions<Charge, MemoryStore>| topic.handler(charge).timeout(Duration::ZERO);
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

/// Written by another part of the service, and handled by nobody.
#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "bill", topic = "bill.sent", was = "bill.made", crate = outbox_core)]
struct BillSent {
    #[outbox(key)]
    bill: u32,
}

#[test]
fn every_topic_of_the_catalogue_needs_a_handler() {
    let catalogue = Catalogue::new().with::<Order>().with::<BillSent>();
    let new = || builder(&MemoryStore::new()).catalogue(&catalogue);
    let topic = |topic| {
        let event = if topic == "order.step" {
            "Order"
        } else {
            "BillSent"
        };
        Some(BuildError::Unhandled { topic, event })
    };
    // A warning by default.
    assert!(new().on_event(whole).build().is_ok());
    let refused = |builder: outbox_core::DispatcherBuilder<MemoryStore>| {
        builder.unhandled(Unhandled::Refuse).build().err()
    };
    assert_eq!(refused(new().on_event(whole)), topic("bill.sent"));
    // What is stored under the former name needs one too.
    let by_name = new().on_event(whole).on_raw("bill.sent", raw);
    assert_eq!(refused(by_name), topic("bill.made"));
    let typed = new()
        .on_event(whole)
        .on(BillSent::TOPIC, |_: BillSent, _| async { Ok(()) });
    assert_eq!(refused(typed), None);
    assert_eq!(
        refused(new().on_event(whole).forward("bill.*", Nowhere)),
        None
    );
    // The other topics of a type that is handled in part, without any catalogue.
    let part = || builder(&MemoryStore::new()).on(Order::CHARGE, charge);
    assert_eq!(refused(part()), topic("order.step"));
    assert!(part().build().is_ok());
}

#[test]
fn a_handler_of_what_nobody_declares_is_a_mistake() {
    let catalogue = Catalogue::new().with::<Order>();
    let new = || builder(&MemoryStore::new()).on_event(whole);
    let unknown = |topic: &str| {
        Some(BuildError::UnknownTopic {
            topic: topic.to_owned(),
        })
    };
    // Another service may write to this outbox, as far as the dispatcher knows.
    assert!(new().on_raw("bill.sent", raw).build().is_ok());
    let told = || new().catalogue(&catalogue);
    assert_eq!(
        told().on_raw("bill.sent", raw).build().err(),
        unknown("bill.sent")
    );
    assert_eq!(
        told().forward("ordr.*", Nowhere).build().err(),
        unknown("ordr.*")
    );
    // Behind a type's own handlers a pattern has nothing to do, and is no mistake.
    assert!(told().forward("*", Nowhere).build().is_ok());
}

#[test]
fn two_types_of_a_catalogue_cannot_declare_one_topic() {
    let catalogue = Catalogue::new().with::<Order>().with::<Impostor>();
    assert_eq!(catalogue.clash().unwrap().topic, "order.step");
    let error = builder(&MemoryStore::new())
        .catalogue(&catalogue)
        .on_event(whole)
        .build()
        .err();
    assert!(matches!(error, Some(BuildError::DuplicateTopic { .. })));
}
