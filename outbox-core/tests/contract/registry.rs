//! What a dispatcher is told when it is built, and refuses.

use outbox_core::{Dispatcher, DispatcherBuilder, MemoryStore};
use outbox_seaorm::{
    BuildError, Catalogue, Delivery, Envelope, HandlerError, OutboxEvent, Unhandled,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum OrderEvent {
    #[outbox(unordered)]
    Placed(u64),
    #[outbox(unordered, was = "order.mail")]
    Receipt(String),
}

/// Declares a topic of [`OrderEvent`], by its former name.
#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "mail", topic = "order.mail", unordered)]
struct Mail(String);

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "parcel", unordered)]
struct Shipped;

async fn number(_: u64, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn text(_: String, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn order(_: OrderEvent, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn mail(_: Mail, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn raw(_: Envelope, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn builder() -> DispatcherBuilder<MemoryStore> {
    Dispatcher::builder(MemoryStore::new())
}

fn refusal(builder: DispatcherBuilder<MemoryStore>) -> Option<BuildError> {
    builder.build().err()
}

#[test]
fn two_types_that_declare_one_topic_are_refused() {
    let clash = BuildError::DuplicateTopic {
        topic: "order.mail",
        events: ["OrderEvent", "Mail"],
    };
    let handled = builder().on_event(order).on(Mail::TOPIC, mail);
    assert_eq!(refusal(handled), Some(clash.clone()));
    let catalogue = Catalogue::new().with::<OrderEvent>().with::<Mail>();
    let known = builder().on_event(order).catalogue(&catalogue);
    assert_eq!(refusal(known), Some(clash));
}

#[test]
fn one_type_may_be_named_more_than_once() {
    let catalogue = Catalogue::new().with::<OrderEvent>().with::<OrderEvent>();
    assert_eq!(catalogue.contracts().len(), 1);
    let builder = builder().on(OrderEvent::PLACED, number).on_event(order);
    assert_eq!(refusal(builder.catalogue(&catalogue)), None);
}

#[test]
fn a_topic_has_one_handler() {
    let twice = |topic: &str| {
        let topic = topic.to_owned();
        Some(BuildError::DuplicateHandler { topic })
    };
    let typed = builder()
        .on(OrderEvent::PLACED, number)
        .on(OrderEvent::PLACED, number);
    assert_eq!(refusal(typed), twice("order.placed"));
    // By a former name as well.
    let former = builder()
        .on(OrderEvent::RECEIPT, text)
        .on_raw("order.mail", raw);
    assert_eq!(refusal(former), twice("order.mail"));
}

#[test]
fn a_handler_of_a_topic_that_nobody_declares_is_refused() {
    let catalogue = Catalogue::new().with::<OrderEvent>();
    let unknown = |topic: &str| {
        let topic = topic.to_owned();
        Some(BuildError::UnknownTopic { topic })
    };
    let misspelt = || builder().on_event(order).on_raw("order.palced", raw);
    assert_eq!(refusal(misspelt()), None, "nobody has said what there is");
    let refused = refusal(misspelt().catalogue(&catalogue));
    assert_eq!(refused, unknown("order.palced"));
    let known = builder().on_raw("order.mail", raw).catalogue(&catalogue);
    assert_eq!(refusal(known), None);
}

#[test]
fn a_topic_that_nobody_handles_is_refused_where_that_is_asked_for() {
    let one = || builder().on(OrderEvent::PLACED, number);
    let unhandled = BuildError::Unhandled {
        topic: "order.receipt",
        event: "OrderEvent",
    };
    assert_eq!(refusal(one()), None);
    assert_eq!(refusal(one().unhandled(Unhandled::Ignore)), None);
    let refused = refusal(one().unhandled(Unhandled::Refuse));
    assert_eq!(refused, Some(unhandled));
    let both = one().on(OrderEvent::RECEIPT, text);
    assert_eq!(refusal(both.unhandled(Unhandled::Refuse)), None);
    // A type of the catalogue counts, also where the dispatcher handles nothing of it.
    let catalogue = Catalogue::new().with::<Shipped>();
    let other = builder().on_event(order).catalogue(&catalogue);
    let unhandled = BuildError::Unhandled {
        topic: "parcel.shipped",
        event: "Shipped",
    };
    assert_eq!(refusal(other.unhandled(Unhandled::Refuse)), Some(unhandled));
}
