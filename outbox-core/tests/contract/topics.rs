use crate::support::emitted;
use outbox_seaorm::{Limits, OutboxEvent, Shape, Topic};
use serde::{Deserialize, Serialize};

/// The names of the documentation's table, under one of serde's renaming rules.
macro_rules! named {
    ($name:ident, $rule:literal) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, dead_code)]
        #[derive(Debug, Serialize, Deserialize, OutboxEvent)]
        #[outbox(aggregate = "order")]
        #[serde(rename_all = $rule)]
        enum $name {
            #[outbox(unordered)]
            Placed,
            #[outbox(unordered)]
            MakerRebate,
            #[outbox(unordered)]
            ABC,
            #[outbox(unordered)]
            HTTPRequest,
            #[outbox(unordered)]
            OAuth2Token,
            #[outbox(unordered)]
            V2,
            #[outbox(unordered)]
            V2Order,
            #[outbox(unordered)]
            A1B2,
            #[outbox(unordered)]
            Order_Placed,
            #[outbox(unordered)]
            r#Type,
            #[outbox(unordered)]
            #[serde(rename = "renamed")]
            Renamed,
        }
    };
}

named!(Lower, "lowercase");
named!(Upper, "UPPERCASE");
named!(Pascal, "PascalCase");
named!(Camel, "camelCase");
named!(Snake, "snake_case");
named!(Screaming, "SCREAMING_SNAKE_CASE");
named!(Kebab, "kebab-case");
named!(ScreamingKebab, "SCREAMING-KEBAB-CASE");

fn names<E: OutboxEvent>() -> Vec<&'static str> {
    E::CONTRACT.topics.iter().map(|topic| topic.name).collect()
}

#[test]
fn default_topics_follow_the_documented_table_and_no_serde_rule() {
    let table = [
        "order.placed",
        "order.maker_rebate",
        "order.abc",
        "order.http_request",
        "order.o_auth2_token",
        "order.v2",
        "order.v2_order",
        "order.a1_b2",
        "order.order_placed",
        "order.type",
        "order.renamed",
    ];
    for names in [
        names::<Lower>(),
        names::<Upper>(),
        names::<Pascal>(),
        names::<Camel>(),
        names::<Snake>(),
        names::<Screaming>(),
        names::<Kebab>(),
        names::<ScreamingKebab>(),
    ] {
        assert_eq!(names, table);
    }
}

#[test]
fn constants_are_named_after_their_variants() {
    let constants: [(Topic<Pascal>, &str); 6] = [
        (Pascal::MAKER_REBATE, "order.maker_rebate"),
        (Pascal::HTTP_REQUEST, "order.http_request"),
        (Pascal::A1_B2, "order.a1_b2"),
        (Pascal::TYPE, "order.type"),
        // A variant would hide a constant of its own name.
        (Pascal::ABC_TOPIC, "order.abc"),
        (Pascal::V2_TOPIC, "order.v2"),
    ];
    for (topic, name) in constants {
        assert_eq!(topic.name(), name);
    }
}

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic_prefix = "shop:order/v1", verify = false)]
enum Event {
    Placed {
        #[outbox(key)]
        order_id: u64,
    },
    #[outbox(topic = "stripe.charge-now", version = 4, oldest = 4, key = 0)]
    Charge(u64),
    #[outbox(unordered)]
    Receipt,
    #[outbox(unordered)]
    Contract,
}

#[test]
fn the_contract_lists_what_was_declared() {
    let contract = Event::CONTRACT;
    assert_eq!(contract.event, "Event");
    assert_eq!(contract.aggregate, "order");
    assert_eq!(contract.shape, Shape::Enum);
    assert!(!contract.verify && Pascal::CONTRACT.verify);
    let topics: Vec<_> = contract
        .topics
        .iter()
        .map(|topic| (topic.name, topic.variant, topic.version, topic.ordered))
        .collect();
    assert_eq!(
        topics,
        [
            ("shop:order/v1.placed", "Placed", 1, true),
            ("stripe.charge-now", "Charge", 4, true),
            ("shop:order/v1.receipt", "Receipt", 1, false),
            ("shop:order/v1.contract", "Contract", 1, false),
        ]
    );
    assert_eq!(contract.find("stripe.charge-now"), Some(1));
    assert_eq!(Event::CHARGE.contract().event, "Event");
    assert_eq!(Event::CONTRACT_TOPIC.name(), Event::Contract.topic().name);
    assert_eq!(Event::Receipt.topic().name, Event::RECEIPT.name());
}

/// The derive checks names and constant keys on its own, since it cannot depend on the core.
#[test]
fn the_derive_knows_the_limits() {
    assert_eq!((Limits::NAME_BYTES, Limits::KEY_BYTES), (200, 500));
}

#[test]
fn the_version_is_a_number_among_the_headers() {
    assert_eq!(
        emitted(&Event::Charge(1)).headers,
        r#"{"schema_version":4}"#
    );
    assert_eq!(emitted(&Event::Receipt).headers, r#"{"schema_version":1}"#);
}

/// The name of a struct gives its topic, as a variant's does.
#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
struct ReturnRequested {
    #[outbox(key)]
    order_id: u64,
}

#[test]
fn a_struct_is_a_topic() {
    assert_eq!(names::<ReturnRequested>(), ["order.return_requested"]);
    let event = ReturnRequested { order_id: 3 };
    assert_eq!(emitted(&event).topic, ReturnRequested::TOPIC.name());
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic_prefix = "shop", topic_case = "kebab-case")]
enum Kebabs {
    #[outbox(unordered)]
    MakerRebate,
    #[outbox(unordered, topic = "as_it_Stands")]
    Explicit,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", topic_case = "PascalCase", unordered)]
struct HTTPRequest;

#[test]
fn the_last_part_of_a_default_topic_has_a_case() {
    assert_eq!(names::<Kebabs>(), ["shop.maker-rebate", "as_it_Stands"]);
    assert_eq!(Kebabs::MAKER_REBATE.name(), "shop.maker-rebate");
    assert_eq!(names::<HTTPRequest>(), ["order.HttpRequest"]);
}
