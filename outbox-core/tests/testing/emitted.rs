//! `assert_emitted!`, `refute_emitted!` and the functions below them.

use crate::orders::{Charge, Order, Registered, accept, builder, charge, placed};
use outbox_core::{
    Draft, MemoryStore,
    headers::TENANT_ID,
    operator::EventState,
    testing::{Expected, Step, TestStore, assert_emitted, refute_emitted},
};
use std::time::Duration;

/// An order, a charge with a header, a customer, and a mail in an hour.
fn store() -> MemoryStore {
    let store = MemoryStore::new();
    store.emit(placed(7, 900)).unwrap();
    store
        .emit(Draft::new(&charge(7, 900)).header(TENANT_ID, "acme"))
        .unwrap();
    let customer = "ada".to_owned();
    store.emit(Registered { customer }).unwrap();
    let hour = Duration::from_secs(3600);
    store
        .emit(Draft::new(&Order::Mail { order: 7 }).after(hour))
        .unwrap();
    store
}

#[tokio::test]
async fn an_event_is_found_by_its_pattern() {
    let store = store();
    let found = assert_emitted!(&store, Order::Charge(Charge { cents: 900, .. }));
    assert_eq!(found.event, charge(7, 900));
    assert_eq!(found.emitted.envelope.key.as_deref(), Some("7"));
    assert_eq!(found.emitted.state, EventState::Pending);

    let order = 7;
    assert_emitted!(&store, Order::Placed { order: found, .. } if *found == order);
    assert_emitted!(&store, Order::Placed { .. } | Order::Charge(_));
    assert_emitted!(&store, Registered { customer } if customer == "ada");
    assert_emitted!(store, Registered { .. });
}

#[tokio::test]
async fn an_event_is_found_by_its_headers() {
    let store = store();
    assert_emitted!(&store, Order::Charge(_), TENANT_ID => "acme");
    let version = outbox_core::headers::SCHEMA_VERSION;
    assert_emitted!(&store, Order::Charge(_) if true, TENANT_ID => "acme", version => 1);
    refute_emitted!(&store, Order::Charge(_), TENANT_ID => "other");
    refute_emitted!(&store, Order::Placed { .. }, TENANT_ID => "acme");
}

#[tokio::test]
async fn a_delay_is_told() {
    let found = assert_emitted!(store(), Order::Mail { .. });
    assert_eq!(found.emitted.state, EventState::Scheduled);
    assert_eq!(found.emitted.delay, Some(Duration::from_secs(3600)));
}

#[tokio::test]
async fn events_are_found_in_their_order() {
    let store = store();
    assert_emitted!(
        &store,
        [
            Order::Placed { .. },
            Order::Charge(charge) if charge.cents == 900,
            Registered { .. },
            Order::Mail { order: 7 },
        ]
    );
    assert_emitted!(&store, [..]);
    assert_emitted!(&store, [Order::Placed { .. }, ..]);
    assert_emitted!(&store, [.., Order::Mail { .. }]);
    assert_emitted!(
        &store,
        [.., Order::Placed { .. }, .., Registered { .. }, ..]
    );
    assert_emitted!(MemoryStore::new(), []);
    assert_emitted!(MemoryStore::new(), [..]);
}

#[tokio::test]
async fn what_has_been_delivered_was_emitted() {
    let store = store();
    let dispatcher = builder(&store).on_event(accept).build().unwrap();
    dispatcher.drain().await.unwrap();
    let found = assert_emitted!(&store, Order::Charge(_));
    assert_eq!(found.emitted.state, EventState::Delivered);
    assert_emitted!(
        &store,
        [
            Order::Placed { .. },
            Order::Charge(_),
            Registered { .. },
            ..
        ]
    );
}

#[tokio::test]
#[should_panic(expected = "no emitted event is `Order::Charge(charge) if charge.cents > 900`")]
async fn an_event_that_is_missing_fails_the_test() {
    assert_emitted!(store(), Order::Charge(charge) if charge.cents > 900);
}

#[tokio::test]
#[should_panic(
    expected = "no emitted event is `Order::Charge(_)` with the header tenant_id = \"x\""
)]
async fn an_event_with_another_header_fails_the_test() {
    assert_emitted!(store(), Order::Charge(_), TENANT_ID => "x");
}

#[tokio::test]
#[should_panic(
    expected = "the emitted events are not [`Order::Charge(_)`, `Order::Placed { .. }`, ..]"
)]
async fn another_order_fails_the_test() {
    assert_emitted!(store(), [Order::Charge(_), Order::Placed { .. }, ..]);
}

#[tokio::test]
#[should_panic(expected = "the emitted events are not [..")]
async fn an_event_more_fails_the_test() {
    assert_emitted!(store(), [.., Registered { .. }]);
}

#[tokio::test]
#[should_panic(expected = "an emitted event is `Registered { .. }`")]
async fn an_event_that_should_not_be_fails_the_test() {
    refute_emitted!(store(), Registered { .. });
}

#[tokio::test]
#[should_panic(expected = "nothing should have been emitted")]
async fn an_event_fails_a_test_that_expects_none() {
    refute_emitted!(MemoryStore::new());
    refute_emitted!(store());
}

/// Below the macros; and what they say.
#[tokio::test]
async fn a_mismatch_lists_what_there_is() {
    let emitted = store().emitted().await.unwrap();
    assert_eq!(emitted.of::<Order>().unwrap().len(), 3);
    let never = Expected::new("never", |_: &Order| false).header("a", 1);
    let problem = emitted.find(&never).unwrap_err().to_string();
    let lines: Vec<_> = problem.lines().collect();
    assert_eq!(
        lines,
        [
            "no emitted event is `never` with the header a = 1",
            "emitted were:",
            "  order.placed of order 7, pending: {\"order\":7,\"cents\":900}, headers {\"schema_version\":1}",
            "  order.charge of order 7, pending: {\"order\":7,\"cents\":900}, headers {\"schema_version\":1,\"tenant_id\":\"acme\"}",
            "  customer.registered of customer ada, pending: {\"customer\":\"ada\"}, headers {\"schema_version\":1}",
            "  order.mail of order 7, scheduled after 3600s: {\"order\":7}, headers {\"schema_version\":1}",
        ]
    );
    assert!(emitted.find_none(&never).is_ok());
    assert!(emitted.are(&[Step::from(never), Step::others()]).is_err());
}

/// What another service has written, or a version that nobody reads any more.
#[tokio::test]
async fn an_event_that_cannot_be_decoded_fails_the_test() {
    /// Declares a topic of `Order`, with another payload.
    #[derive(serde::Serialize, serde::Deserialize, outbox_core::OutboxEvent)]
    #[outbox(aggregate = "order", topic = "order.placed", crate = outbox_core)]
    struct Foreign {
        #[outbox(key)]
        number: String,
    }
    let store = MemoryStore::new();
    let number = "7".to_owned();
    store.emit(Foreign { number }).unwrap();
    let emitted = store.emitted().await.unwrap();
    let any = Expected::new("any", |_: &Order| true);
    let problem = emitted.find_none(&any).unwrap_err();
    assert!(
        problem.to_string().contains("missing field `order`"),
        "{problem}"
    );
    assert!(std::error::Error::source(&problem).is_some());
}
