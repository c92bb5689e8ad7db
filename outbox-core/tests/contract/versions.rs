//! Payloads that were written by older builds.

use crate::support::{delivered, emitted};
use outbox_seaorm::{DecodeError, OutboxEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::error::Error;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Charge {
    order_id: u64,
    cents: u128,
    currency: String,
}

/// Before there were currencies.
#[derive(Deserialize)]
struct ChargeV2 {
    order_id: u64,
    cents: u128,
}

/// In yen, as text.
#[derive(Deserialize)]
struct ChargeV1 {
    order: u64,
    yen: String,
}

fn charge_v1(old: ChargeV1) -> Result<ChargeV2, std::num::ParseIntError> {
    Ok(ChargeV2 {
        order_id: old.order,
        cents: old.yen.parse::<u128>()? * 100,
    })
}

fn charge_v2(old: ChargeV2) -> Charge {
    Charge {
        order_id: old.order_id,
        cents: old.cents,
        currency: "JPY".to_owned(),
    }
}

mod json {
    use super::*;

    pub(super) fn rename(mut old: Value) -> Value {
        if let Some(id) = old.get_mut("id").map(Value::take) {
            old["order_id"] = id;
        }
        old
    }

    pub(super) fn add(mut old: Value) -> Result<Value, &'static str> {
        if old["order_id"] == 13 {
            return Err("no order has this number");
        }
        old["note"] = Value::from("none");
        Ok(old)
    }

    #[derive(Deserialize)]
    pub(super) struct Typed {
        pub(super) order_id: u64,
        pub(super) note: String,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(key = order_id, version = 3, upcast(1 = charge_v1, 2 = charge_v2))]
    Charge(Charge),
    #[outbox(version = 3, upcast(2 = json::add, 1 = json::rename))]
    Json {
        #[outbox(key)]
        order_id: u64,
        note: String,
    },
    #[outbox(version = 5, oldest = 2, upcast(2 = json::rename, 3 = _, 4 = Self::from_typed))]
    Mixed {
        #[outbox(key)]
        order_id: u64,
        note: String,
    },
    #[outbox(version = 3, upcast(1 = _, 2 = _))]
    Optional {
        #[outbox(key)]
        order_id: u64,
        #[serde(default)]
        note: Option<String>,
    },
    #[outbox(unordered, version = 2, oldest = 2)]
    New,
    #[outbox(unordered, version = 2, upcast(1 = json::rename))]
    Text(String),
}

impl Event {
    fn from_typed(old: json::Typed) -> Self {
        Self::Mixed {
            order_id: old.order_id,
            note: old.note + "!",
        }
    }
}

fn chain(error: &DecodeError) -> String {
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    format!("{error}: {source}")
}

#[test]
fn typed_functions_are_chained() {
    let charge = |cents| Charge {
        order_id: 7,
        cents,
        currency: "JPY".into(),
    };
    let wide = u128::MAX;
    let second = format!(r#"{{"order_id":7,"cents":{wide}}}"#);
    let third = format!(r#"{{"order_id":7,"cents":{wide},"currency":"JPY"}}"#);
    let decode = |version, payload: &str| Event::CHARGE.decode_version(version, payload);
    assert_eq!(
        decode(1, r#"{"order":7,"yen":"12"}"#).unwrap(),
        charge(1200)
    );
    assert_eq!(decode(2, &second).unwrap(), charge(wide));
    assert_eq!(decode(3, &third).unwrap(), charge(wide));
    let event = Event::Charge(charge(wide));
    assert_eq!(delivered(&event, Event::CHARGE), charge(wide));
    assert_eq!(emitted(&event).headers, r#"{"schema_version":3}"#);
}

#[test]
fn functions_may_work_on_json_and_be_mixed_with_typed_ones() {
    let json = |note: &str| Event::Json {
        order_id: 7,
        note: note.to_owned(),
    };
    let decode = |version, payload| Event::JSON.decode_version(version, payload);
    assert_eq!(decode(1, r#"{"id":7}"#).unwrap(), json("none"));
    assert_eq!(decode(2, r#"{"order_id":7}"#).unwrap(), json("none"));
    assert_eq!(
        decode(3, r#"{"order_id":7,"note":"x"}"#).unwrap(),
        json("x")
    );

    let mixed = |note: &str| Event::Mixed {
        order_id: 7,
        note: note.to_owned(),
    };
    let decode = |version, payload| Event::MIXED.decode_version(version, payload);
    let written = r#"{"order_id":7,"note":"x"}"#;
    assert_eq!(decode(2, r#"{"id":7,"note":"x"}"#).unwrap(), mixed("x!"));
    assert_eq!(decode(3, written).unwrap(), mixed("x!"));
    assert_eq!(decode(4, written).unwrap(), mixed("x!"));
    assert_eq!(decode(5, written).unwrap(), mixed("x"));
    assert_eq!(
        Event::TEXT.decode_version(1, r#""a""#).unwrap(),
        "a".to_owned()
    );
}

#[test]
fn a_version_may_read_like_the_next() {
    for version in 1..=3 {
        let event = Event::OPTIONAL.decode_version(version, r#"{"order_id":7}"#);
        let note = None;
        assert_eq!(event.unwrap(), Event::Optional { order_id: 7, note });
    }
}

#[test]
fn versions_that_nobody_reads_are_told() {
    let error = Event::NEW.decode_version(1, "{}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "payload of version 1 is older than version 2, the oldest that is read here"
    );
    let error = Event::NEW.decode_version(3, "{}").unwrap_err();
    assert!(error.to_string().contains("version 3 is newer"), "{error}");
    assert!(Event::NEW.decode_version(2, "{}").is_ok());
}

#[test]
fn what_is_wrong_in_an_old_payload_is_told() {
    let error = Event::CHARGE
        .decode_version(1, r#"{"order":7,"yen":"x"}"#)
        .unwrap_err();
    assert_eq!(
        chain(&error),
        "payload of version 1 cannot be brought up to date: invalid digit found in string"
    );
    let error = Event::JSON.decode_version(1, r#"{"id":13}"#).unwrap_err();
    assert!(
        chain(&error).ends_with("no order has this number"),
        "{error}"
    );
    let error = Event::JSON.decode_version(1, r#"{"id":"7"}"#).unwrap_err();
    assert_eq!(error.path(), Some("order_id"));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    quantity: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", unordered)]
struct Placed {
    lines: Vec<Line>,
}

#[test]
fn mistakes_are_told_with_their_path_and_what_was_expected() {
    let wrong = |payload| Placed::TOPIC.decode(payload).unwrap_err();
    let error = wrong(r#"{"lines":[{"quantity":1},{"quantity":"two"}]}"#);
    assert_eq!(error.path(), Some("lines[1].quantity"));
    assert_eq!(
        chain(&error),
        "payload of version 1 cannot be decoded at lines[1].quantity: \
         invalid type: string \"two\", expected u32 at line 1 column 42"
    );
    let error = wrong(r#"{"lines":[{}]}"#);
    assert_eq!(error.path(), Some("lines[0]"));
    assert!(chain(&error).contains("missing field `quantity`"));
    for whole in ["", "[", "{}", r#"{"lines":[]} x"#] {
        assert_eq!(wrong(whole).path(), None, "{whole}");
    }
    let error = Event::CHARGE
        .decode(r#"{"order_id":7,"cents":-1,"currency":"JPY"}"#)
        .unwrap_err();
    assert_eq!(error.path(), Some("cents"));
}

/// Old payloads of a generic type, and functions of other modules and types.
#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", key_const = "k", version = 2, upcast(1 = Self::of::<u8>))]
struct Generic<T: From<u8>> {
    value: T,
}

impl<T: From<u8>> Generic<T> {
    fn of<U: Into<u8>>(old: U) -> Self {
        Self {
            value: T::from(old.into()),
        }
    }
}

#[test]
fn a_generic_event_has_older_versions_too() {
    let old = Generic::<u64>::TOPIC.decode_version(1, "7").unwrap();
    assert_eq!(old, Generic { value: 7 });
}

/// Functions that are called as something in the generated code might be.
mod names {
    use super::*;

    fn old(id: u8) -> u16 {
        u16::from(id) + 1
    }

    fn payload(id: u16) -> u32 {
        u32::from(id) + 1
    }

    fn from_2(id: u32) -> Named {
        Named(u64::from(id) + 1)
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
    #[outbox(aggregate = "order", unordered, version = 4, upcast(1 = old, 2 = payload, 3 = from_2))]
    pub(super) struct Named(pub(super) u64);

    /// What a macro is given has another hygiene than what it writes.
    macro_rules! made {
        ($name:ident, $function:path) => {
            #[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
            #[outbox(aggregate = "order", unordered, version = 3, upcast(1 = old, 2 = $function))]
            pub(super) struct $name(pub(super) u64);
        };
    }

    fn version(id: u16) -> Made {
        Made(u64::from(id))
    }

    made!(Made, version);
}

#[test]
fn functions_may_have_any_name() {
    let decode = |version| names::Named::TOPIC.decode_version(version, "7").unwrap();
    assert_eq!([1, 2, 3, 4].map(decode), [10, 9, 8, 7].map(names::Named));
    let made = names::Made::TOPIC.decode_version(1, "7").unwrap();
    assert_eq!(made, names::Made(8));
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Renamed {
    #[outbox(was = "order.created")]
    Placed {
        #[outbox(key)]
        order_id: u64,
    },
    #[outbox(unordered, was = ("mail", "order.mail"))]
    Receipt,
}

#[test]
fn former_names_are_a_part_of_the_contract() {
    let contract = Renamed::CONTRACT;
    assert_eq!(contract.find("order.created"), Some(0));
    assert_eq!(contract.find("order.placed"), Some(0));
    assert_eq!(contract.find("mail"), Some(1));
    assert_eq!(contract.find("order.mail"), Some(1));
    assert_eq!(contract.topics[1].was, ["mail", "order.mail"]);
    assert_eq!(emitted(&Renamed::Receipt).topic, "order.receipt");
}
