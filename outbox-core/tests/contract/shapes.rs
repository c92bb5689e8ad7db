use crate::support::{delivered, emitted};
use outbox_seaorm::{OutboxEvent, Topic};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Charge {
    order_id: u64,
    yen: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Inner {
    Unit,
    Named { a: u8 },
    Newtype(u128),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    Named {
        #[outbox(key)]
        order_id: u64,
        note: Option<Option<String>>,
    },
    #[outbox(key = order_id)]
    Newtype(Charge),
    Boxed(#[outbox(key)] Box<u64>),
    Tuple(#[outbox(key)] u64, String),
    #[outbox(key_const = "all")]
    Unit,
    #[outbox(unordered)]
    EmptyNamed {},
    #[outbox(unordered)]
    EmptyTuple(),
    Nested(#[outbox(key)] u64, Inner),
    #[outbox(unordered)]
    Enum(Inner),
    #[outbox(unordered)]
    Text(String),
    #[outbox(unordered)]
    List(Vec<u8>),
}

fn check<T>(event: Event, topic: Topic<T>, payload: &str, key: Option<&str>) -> T {
    let row = emitted(&event);
    assert_eq!(row.payload, payload);
    assert_eq!(row.key.as_deref(), key);
    assert_eq!(row.aggregate, "order");
    delivered(&event, topic)
}

#[test]
fn every_shape_comes_back() {
    let charge = Charge {
        order_id: 7,
        yen: -1,
    };
    let named = Event::Named {
        order_id: 7,
        note: Some(Some("x".into())),
    };
    let unit = Event::Unit;
    assert_eq!(
        check(
            named.clone(),
            Event::NAMED,
            r#"{"order_id":7,"note":"x"}"#,
            Some("7")
        ),
        named
    );
    assert_eq!(
        check(
            Event::Newtype(charge.clone()),
            Event::NEWTYPE,
            r#"{"order_id":7,"yen":-1}"#,
            Some("7")
        ),
        charge
    );
    assert_eq!(
        check(Event::Boxed(Box::new(9)), Event::BOXED, "9", Some("9")),
        Box::new(9)
    );
    let tuple = Event::Tuple(1, "a".into());
    assert_eq!(
        check(tuple.clone(), Event::TUPLE, r#"[1,"a"]"#, Some("1")),
        tuple
    );
    assert_eq!(check(unit.clone(), Event::UNIT, "{}", Some("all")), unit);
    assert_eq!(
        check(Event::EmptyNamed {}, Event::EMPTY_NAMED, "{}", None),
        Event::EmptyNamed {}
    );
    assert_eq!(
        check(Event::EmptyTuple(), Event::EMPTY_TUPLE, "{}", None),
        Event::EmptyTuple()
    );
    for (inner, text) in [
        (Inner::Unit, r#""Unit""#.to_owned()),
        (Inner::Named { a: 1 }, r#"{"Named":{"a":1}}"#.to_owned()),
        (
            Inner::Newtype(u128::MAX),
            format!(r#"{{"Newtype":{}}}"#, u128::MAX),
        ),
    ] {
        let nested = Event::Nested(3, inner.clone());
        assert_eq!(
            check(
                nested.clone(),
                Event::NESTED,
                &format!("[3,{text}]"),
                Some("3")
            ),
            nested
        );
        assert_eq!(
            check(Event::Enum(inner.clone()), Event::ENUM, &text, None),
            inner
        );
    }
    assert_eq!(
        check(Event::Text("a\"b".into()), Event::TEXT, r#""a\"b""#, None),
        "a\"b"
    );
    assert_eq!(
        check(Event::List(vec![]), Event::LIST, "[]", None),
        Vec::<u8>::new()
    );
}

#[test]
fn a_unit_variant_accepts_any_payload() {
    for payload in [
        "{}",
        "null",
        r#"{"added":[1,{"later":2}]}"#,
        "[]",
        "1",
        r#""x""#,
    ] {
        assert_eq!(Event::UNIT.decode(payload).unwrap(), Event::Unit);
        assert_eq!(
            Event::EMPTY_TUPLE.decode(payload).unwrap(),
            Event::EmptyTuple()
        );
    }
    for payload in ["", "{", "{}{}", "{} x"] {
        assert!(Event::UNIT.decode(payload).is_err(), "{payload}");
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", key = order_id, version = 3, oldest = 3)]
struct Closed {
    order_id: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", key = order_id)]
struct Wrapped(Charge);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", key = key())]
struct Pair(u8, u8);

impl Pair {
    fn key(&self) -> String {
        format!("{}/{}", self.0, self.1)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "clock", topic = "tick", unordered)]
struct Tick;

#[test]
fn structs_are_events_too() {
    let closed = Closed { order_id: 5 };
    let row = emitted(&closed);
    assert_eq!((row.topic, row.key.as_deref()), ("order.closed", Some("5")));
    assert_eq!(row.payload, r#"{"order_id":5}"#);
    assert!(row.headers.contains(r#""schema_version":3"#));
    assert_eq!(delivered(&closed, Closed::TOPIC), closed);

    let wrapped = Wrapped(Charge {
        order_id: 6,
        yen: 1,
    });
    assert_eq!(emitted(&wrapped).key.as_deref(), Some("6"));
    assert_eq!(delivered(&wrapped, Wrapped::TOPIC), wrapped);

    assert_eq!(emitted(&Pair(1, 2)).key.as_deref(), Some("1/2"));
    assert_eq!(delivered(&Pair(1, 2), Pair::TOPIC), Pair(1, 2));

    assert_eq!(emitted(&Tick).payload, "{}");
    assert_eq!(emitted(&Tick).topic, "tick");
    assert_eq!(delivered(&Tick, Tick::TOPIC), Tick);
    assert_eq!(Tick::TOPIC.decode(r#"{"added":1}"#).unwrap(), Tick);
}
