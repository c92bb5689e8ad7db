use crate::support::{delivered, emitted};
use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{borrow::Cow, collections::BTreeMap, fmt, marker::PhantomData};

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Types<K, T = String>
where
    T: Clone,
{
    Placed {
        #[outbox(key)]
        id: K,
        value: T,
    },
    #[outbox(unordered)]
    Value(T),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", key = id)]
struct Bounded<T: fmt::Debug + PartialEq> {
    id: u8,
    value: Vec<T>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Sized_<const N: usize = 4> {
    #[outbox(key_const = "n")]
    Placed(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Lives<'a, 'b: 'a> {
    Placed {
        #[outbox(key)]
        id: Cow<'a, str>,
        note: Option<Cow<'b, str>>,
    },
}

trait Shop {
    type Id;
}

#[derive(Debug, PartialEq)]
struct Corner;

impl Shop for Corner {
    type Id = u32;
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
#[serde(bound = "S::Id: Serialize + DeserializeOwned")]
enum Associated<S: Shop>
where
    S::Id: fmt::Display,
{
    Placed {
        #[outbox(key)]
        id: S::Id,
        shop: PhantomData<S>,
    },
}

#[test]
fn type_parameters_with_defaults_and_bounds() {
    let event = Types::Placed {
        id: 5_u64,
        value: "v".to_owned(),
    };
    assert_eq!(emitted(&event).key.as_deref(), Some("5"));
    assert_eq!(delivered(&event, Types::<u64>::PLACED), event);
    let map = BTreeMap::from([("a".to_owned(), u128::MAX)]);
    let event = Types::<String, _>::Value(map.clone());
    assert_eq!(
        delivered(&event, Types::<String, BTreeMap<String, u128>>::VALUE),
        map
    );

    let event = Bounded {
        id: 1,
        value: vec![Some(1.5)],
    };
    assert_eq!(delivered(&event, Bounded::TOPIC), event);
}

#[test]
fn const_parameters() {
    let event = Sized_::<7>::Placed("p".into());
    assert_eq!(delivered(&event, Sized_::<7>::PLACED), "p");
    assert_eq!(event.key().as_deref(), Some("n"));
}

#[test]
fn lifetimes() {
    let text = "borrowed".to_owned();
    let event = Lives::Placed {
        id: Cow::Borrowed(&text),
        note: Some(Cow::Borrowed("n")),
    };
    assert_eq!(emitted(&event).key.as_deref(), Some("borrowed"));
    assert_eq!(delivered(&event, Lives::PLACED), event);
}

#[test]
fn associated_types() {
    let event = Associated::<Corner>::Placed {
        id: 9,
        shop: PhantomData,
    };
    assert_eq!(emitted(&event).key.as_deref(), Some("9"));
    assert_eq!(delivered(&event, Associated::PLACED), event);
}

/// Bounds of a generic function are enough to emit and to decode.
fn generic<T: Serialize + DeserializeOwned + Clone + fmt::Debug + PartialEq>(value: T) {
    let event = Types::Placed { id: 1_u8, value };
    assert_eq!(delivered(&event, Types::PLACED), event);
}

#[test]
fn generic_code_uses_generic_events() {
    generic(1_u8);
    generic(vec!["a".to_owned()]);
}
