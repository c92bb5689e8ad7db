use crate::support::{delivered, emitted};
use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::error::Error;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Charge {
    yen: i64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(unordered)]
    Named { a: Option<u8>, b: Vec<u8> },
    #[outbox(unordered)]
    Unit,
    #[outbox(unordered)]
    EmptyNamed {},
    #[outbox(unordered)]
    EmptyTuple(),
    #[outbox(unordered)]
    Struct(Charge),
    #[outbox(unordered)]
    Tuple(u8, u8),
    #[outbox(unordered)]
    Recursive { inner: Option<Box<Recursive>> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Recursive {
    inner: Option<Box<Recursive>>,
}

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Foreign {
    #[outbox(unordered)]
    Newtype(Box<RawValue>),
    #[outbox(unordered)]
    Named { raw: Box<RawValue> },
    #[outbox(unordered)]
    Maybe(Option<u64>),
}

#[test]
fn raw_json_passes_through_untouched() {
    let text = r#"{ "b":1.10, "a" : [1e400,"\u00e9"] }"#;
    let raw = || RawValue::from_string(text.to_owned()).unwrap();
    let event = Foreign::Newtype(raw());
    assert_eq!(emitted(&event).payload, text);
    assert_eq!(delivered(&event, Foreign::NEWTYPE).get(), text);
    let event = Foreign::Named { raw: raw() };
    match delivered(&event, Foreign::NAMED) {
        Foreign::Named { raw } => assert_eq!(raw.get(), text),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_and_something_are_told_apart() {
    for content in [None, Some(0), Some(u64::MAX)] {
        assert_eq!(delivered(&Foreign::Maybe(content), Foreign::MAYBE), content);
    }
}

/// Debezium takes an event without a payload for a deletion, and expands JSON objects only.
#[test]
fn payloads_are_objects_and_nulls_inside_survive() {
    for (event, payload) in [
        (Event::Named { a: None, b: vec![] }, r#"{"a":null,"b":[]}"#),
        (Event::Unit, "{}"),
        (Event::EmptyNamed {}, "{}"),
        (Event::EmptyTuple(), "{}"),
        (Event::Struct(Charge { yen: 1 }), r#"{"yen":1}"#),
    ] {
        assert_eq!(emitted(&event).payload, payload);
    }
}

#[test]
fn a_payload_is_read_to_its_end() {
    for payload in ["[1,2]", " [1,2]\n"] {
        assert_eq!(Event::TUPLE.decode(payload).unwrap(), Event::Tuple(1, 2));
    }
    for payload in [
        "[1,2]x", "[1,2][]", "[1,2,3]", "[1]", "[1,", "", "null", "{}",
    ] {
        let error = Event::TUPLE.decode(payload).unwrap_err();
        assert!(error.source().is_some(), "{payload}");
    }
}

#[test]
fn a_payload_nested_too_deeply_is_an_error() {
    let depth = 10_000;
    let payload = format!("{}null{}", r#"{"inner":"#.repeat(depth), "}".repeat(depth));
    assert!(Event::RECURSIVE.decode(&payload).is_err());
}

#[test]
fn strings_come_back_whatever_their_escapes() {
    let payload = r#"{"a":1,"b":[1],"c":"\ud83d\ude00\u0000","\u0061":2}"#;
    assert!(
        Event::NAMED.decode(payload).is_err(),
        "the field `a` is there twice"
    );
    let payload = r#"{"\u0061":2,"b":[]}"#;
    assert_eq!(
        Event::NAMED.decode(payload).unwrap(),
        Event::Named {
            a: Some(2),
            b: vec![]
        }
    );
}
