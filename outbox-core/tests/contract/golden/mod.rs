//! Rows as released versions of this library have written them, one file a release.
//!
//! They are in the outboxes of users, so a file never changes: what can no longer be read here is
//! lost there. A release that writes something else adds a file.

use crate::support::emitted;
use outbox_seaorm::{OutboxEvent, Topic};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt::Debug};

const RELEASES: [&str; 1] = [include_str!("0.1.jsonl")];

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    aggregate: String,
    key: Option<String>,
    topic: String,
    ordered: bool,
    headers: String,
    payload: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Charge {
    order_id: u64,
    yen: i128,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Inner {
    Unit,
    Newtype(u128),
    Named { a: Option<u8> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    Named {
        #[outbox(key)]
        order_id: u64,
        #[serde(rename = "Note")]
        note: Option<String>,
        lines: Vec<(String, f64)>,
    },
    #[outbox(topic = "stripe.charge", version = 2, upcast(1 = _), key = (order_id, 0.yen))]
    Newtype(Charge),
    Tuple(#[outbox(key)] String, #[outbox(key)] String, f32),
    #[outbox(key_const = "all")]
    Unit,
    #[outbox(unordered)]
    EmptyTuple(),
    #[outbox(unordered)]
    EmptyNamed {},
    #[outbox(unordered)]
    Inner(Inner),
    #[outbox(unordered)]
    Text(String),
    #[outbox(unordered)]
    Number(i128),
    #[outbox(unordered)]
    Nothing(Option<u8>),
    #[outbox(unordered)]
    Map(BTreeMap<String, Vec<bool>>),
    #[outbox(unordered)]
    Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, u64>,
    },
    #[outbox(unordered)]
    HTTPRequest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "clock", topic_prefix = "time/v1", unordered)]
struct Tick;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "customer", key = customer.id)]
struct Joined {
    customer: Customer,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Customer {
    id: String,
}

/// What becomes of one event: its row, and whether rows of all releases give the event back.
struct Checked {
    row: Row,
    unread: Vec<String>,
}

fn checked<E: OutboxEvent, T: Debug + PartialEq>(
    index: usize,
    event: &E,
    topic: Topic<T>,
    content: &T,
) -> Checked {
    let new = emitted(event);
    let row = Row {
        aggregate: new.aggregate.to_owned(),
        key: new.key,
        topic: new.topic.to_owned(),
        ordered: new.ordered,
        headers: new.headers,
        payload: new.payload,
    };
    let read = |release: &&str| {
        let line = release.lines().nth(index)?;
        let row: Row = serde_json::from_str(line).unwrap();
        let headers: BTreeMap<String, u32> = serde_json::from_str(&row.headers).unwrap();
        let found = topic.decode_version(headers["schema_version"], &row.payload);
        match found {
            Ok(found) if found == *content => None,
            other => Some(format!("{line}\n{other:?}")),
        }
    };
    Checked {
        row,
        unread: RELEASES.iter().filter_map(read).collect(),
    }
}

#[rustfmt::skip]
fn all() -> Vec<Checked> {
    let mut index = 0;
    let mut all = Vec::new();
    macro_rules! event {
        ($event:expr, $topic:expr, $content:expr) => {
            all.push(checked(index, &$event, $topic, &$content));
            index += 1;
        };
        ($event:expr, $topic:expr) => {
            event!($event, $topic, $event);
        };
    }
    let named = Event::Named { order_id: u64::MAX, note: None, lines: vec![("é\"\u{1f600}".into(), 0.1)] };
    event!(named, Event::NAMED);
    let named = Event::Named { order_id: 0, note: Some(String::new()), lines: Vec::new() };
    event!(named, Event::NAMED);
    let charge = Charge { order_id: 7, yen: i128::MIN };
    event!(Event::Newtype(charge.clone()), Event::NEWTYPE, charge);
    event!(Event::Tuple("a:b".into(), "c\\".into(), 1.5), Event::TUPLE);
    event!(Event::Unit, Event::UNIT);
    event!(Event::EmptyTuple(), Event::EMPTY_TUPLE);
    event!(Event::EmptyNamed {}, Event::EMPTY_NAMED);
    for inner in [Inner::Unit, Inner::Newtype(u128::MAX), Inner::Named { a: None }] {
        event!(Event::Inner(inner.clone()), Event::INNER, inner);
    }
    event!(Event::Text("\u{2028}\n".into()), Event::TEXT, "\u{2028}\n".to_owned());
    event!(Event::Number(-1), Event::NUMBER, -1);
    event!(Event::Nothing(None), Event::NOTHING, None);
    event!(Event::Nothing(Some(1)), Event::NOTHING, Some(1));
    let map = BTreeMap::from([("b".to_owned(), vec![true]), ("a".to_owned(), Vec::new())]);
    event!(Event::Map(map.clone()), Event::MAP, map);
    event!(Event::Flat { rest: BTreeMap::from([("x".to_owned(), 1)]) }, Event::FLAT);
    event!(Event::HTTPRequest, Event::HTTP_REQUEST);
    event!(Tick, Tick::TOPIC);
    event!(Joined { customer: Customer { id: "c:1".into() } }, Joined::TOPIC);
    let _ = index;
    all
}

#[test]
fn rows_of_every_release_are_read() {
    let unread: Vec<String> = all()
        .into_iter()
        .flat_map(|checked| checked.unread)
        .collect();
    assert_eq!(unread, Vec::<String>::new());
}

#[test]
fn rows_are_written_as_in_the_last_release() {
    let last = RELEASES.last().unwrap();
    let rows = all().into_iter().map(|checked| checked.row);
    let written: Vec<String> = rows
        .map(|row| serde_json::to_string(&row).unwrap())
        .collect();
    assert_eq!(written, last.lines().collect::<Vec<_>>());
}
