use crate::support::{delivered, emitted};
use outbox_seaorm::{Draft, Headers, InvalidEventKind, Limits, OutboxEvent};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Customer {
    id: Uuid,
    region: Region,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Region(String);

impl Customer {
    fn home(&self) -> &str {
        &self.region.0
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    Text(#[outbox(key)] String),
    Number(#[outbox(key)] i128),
    Id(#[outbox(key)] Uuid),
    Both {
        #[outbox(key)]
        tenant: String,
        yen: i64,
        #[outbox(key)]
        order: String,
    },
    #[outbox(key = customer.id)]
    Path {
        customer: Customer,
    },
    #[outbox(key = "customer.region.0")]
    Literal {
        customer: Customer,
    },
    #[outbox(key = "0.id")]
    Inside(Customer),
    #[outbox(key = region.0)]
    Newtype(Box<Customer>),
    #[outbox(key = 0.0)]
    Numbers(Region),
    #[outbox(key = 1.region.0)]
    Second(u8, Customer),
    #[outbox(key = home())]
    Method(Customer),
    #[outbox(key = (region.0, id))]
    Several(Customer),
    #[outbox(key_const = "all")]
    Constant {
        yen: i64,
    },
    #[outbox(unordered)]
    Unordered(#[outbox(key)] u64),
    #[outbox(unordered)]
    Free {
        yen: i64,
    },
}

fn customer() -> Customer {
    Customer {
        id: Uuid::parse_str("67E55044-10B1-426F-9247-BB680E5FE0C8").unwrap(),
        region: Region("eu:west".into()),
    }
}

fn key(event: Event) -> Option<String> {
    let row = emitted(&event);
    assert_eq!(row.key, event.key());
    row.key
}

/// The text of a key is an aggregate's identity, in the table and at brokers: it must not change.
#[test]
fn the_text_of_a_key_is_fixed() {
    let customer = customer();
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let boxed = Box::new(customer.clone());
    for (event, expected) in [
        (Event::Text("ÖÄ 'x'".into()), "ÖÄ 'x'"),
        (
            Event::Number(i128::MIN),
            "-170141183460469231731687303715884105728",
        ),
        (Event::Id(customer.id), id),
        (
            Event::Path {
                customer: customer.clone(),
            },
            id,
        ),
        (
            Event::Literal {
                customer: customer.clone(),
            },
            "eu:west",
        ),
        (Event::Inside(customer.clone()), id),
        (Event::Newtype(boxed), "eu:west"),
        (Event::Numbers(Region("eu".into())), "eu"),
        (Event::Second(1, customer.clone()), "eu:west"),
        (Event::Method(customer.clone()), "eu:west"),
        (
            Event::Several(customer),
            "eu\\:west:67e55044-10b1-426f-9247-bb680e5fe0c8",
        ),
        (Event::Constant { yen: 1 }, "all"),
        (Event::Unordered(8), "8"),
    ] {
        assert_eq!(key(event).as_deref(), Some(expected));
    }
    assert_eq!(key(Event::Free { yen: 1 }), None);
}

#[test]
fn parts_of_a_key_cannot_be_shifted() {
    let both = |tenant: &str, order: &str| {
        key(Event::Both {
            tenant: tenant.into(),
            yen: 1,
            order: order.into(),
        })
    };
    assert_eq!(both("a", "b").as_deref(), Some("a:b"));
    assert_ne!(both("x:y", "z"), both("x", "y:z"));
    assert_ne!(both("x\\", "z"), both("x", "\\z"));
    assert_ne!(both("", "z"), both("z", ""));
}

#[test]
fn an_empty_key_is_refused_before_any_sql() {
    let error = Draft::new(&Event::Text(String::new()))
        .finish(&Limits::default(), &Headers::new())
        .unwrap_err();
    assert_eq!(error.kind(), InvalidEventKind::Key);
    assert_eq!(error.topic(), Some("order.text"));
}

/// A key is read from the Rust field, whatever serde makes of that field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
#[serde(rename_all_fields = "camelCase")]
enum Renamed {
    Placed {
        #[outbox(key)]
        order_id: u64,
    },
    Closed {
        #[outbox(key)]
        #[serde(rename = "o", alias = "id")]
        order_id: u64,
    },
    Skipped {
        #[outbox(key)]
        #[serde(skip)]
        order_id: u64,
    },
    #[outbox(key = 0.region.0)]
    Flattened(#[serde(with = "as_text")] Customer),
    #[outbox(key = customer.id)]
    Flat {
        #[serde(flatten)]
        customer: Customer,
    },
}

mod as_text {
    use super::Customer;
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _, ser::Error as _};

    pub(super) fn serialize<S: Serializer>(value: &Customer, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&serde_json::to_string(value).map_err(S::Error::custom)?)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Customer, D::Error> {
        serde_json::from_str(&String::deserialize(d)?).map_err(D::Error::custom)
    }
}

#[test]
fn serde_attributes_do_not_touch_the_key() {
    let placed = Renamed::Placed { order_id: 1 };
    assert_eq!(emitted(&placed).payload, r#"{"orderId":1}"#);
    assert_eq!(placed.key().as_deref(), Some("1"));

    let closed = Renamed::Closed { order_id: 2 };
    assert_eq!(emitted(&closed).payload, r#"{"o":2}"#);
    assert_eq!(closed.key().as_deref(), Some("2"));
    assert_eq!(Renamed::CLOSED.decode(r#"{"id":2}"#).unwrap(), closed);

    let skipped = Renamed::Skipped { order_id: 3 };
    assert_eq!(emitted(&skipped).payload, "{}");
    assert_eq!(emitted(&skipped).key.as_deref(), Some("3"));

    let with = Renamed::Flattened(customer());
    assert_eq!(with.key().as_deref(), Some("eu:west"));
    assert!(emitted(&with).payload.starts_with('"'));
    assert_eq!(delivered(&with, Renamed::FLATTENED), customer());

    let flat = Renamed::Flat {
        customer: customer(),
    };
    assert!(emitted(&flat).payload.starts_with(r#"{"id":"67e5"#));
    assert_eq!(delivered(&flat, Renamed::FLAT), flat);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
#[allow(non_camel_case_types)]
enum r#Event2 {
    #[outbox(key = r#type)]
    r#Move { r#type: String, r#fn: u64 },
    #[outbox(key = "type")]
    r#Match { r#type: String },
    r#Loop {
        #[outbox(key)]
        r#type: String,
    },
}

#[test]
fn raw_identifiers_lose_their_prefix_in_names() {
    assert_eq!(r#Event2::CONTRACT.event, "Event2");
    let event = Event2::r#Move {
        r#type: "t".into(),
        r#fn: 1,
    };
    assert_eq!(Event2::MOVE.name(), "order.move");
    assert_eq!(Event2::MOVE.spec().variant, "Move");
    assert_eq!(event.key().as_deref(), Some("t"));
    assert_eq!(emitted(&event).payload, r#"{"type":"t","fn":1}"#);
    assert_eq!(delivered(&event, Event2::MOVE), event);
    assert_eq!(
        Event2::Match { r#type: "m".into() }.key().as_deref(),
        Some("m")
    );
    assert_eq!(
        Event2::Loop { r#type: "l".into() }.key().as_deref(),
        Some("l")
    );
}
