//! Whatever an event says is delivered.

use super::{Actor, Capability, Harness};
use outbox_core::{
    __private::decode_event,
    Draft, OutboxEvent,
    store::{Body, Store},
};
use proptest::{
    collection::{btree_map, vec},
    num, option,
    prelude::*,
    result::maybe_ok,
    strategy::ValueTree,
    test_runner::TestRunner,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "anything", crate = outbox_core)]
#[serde(rename_all_fields = "camelCase")]
enum Anything {
    #[outbox(key_const = "named")]
    Named {
        text: String,
        one_char: char,
        wide: (u128, i128),
        narrow: [i8; 3],
        floats: Vec<f64>,
        single: f32,
        nested: Option<Vec<Option<u64>>>,
        map: BTreeMap<String, Vec<i64>>,
        numbered: BTreeMap<u32, bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_out: Option<String>,
    },
    #[outbox(unordered)]
    Newtype(#[outbox(key)] u128),
    #[outbox(unordered)]
    Optional(Option<i64>),
    #[outbox(unordered)]
    Tuple(i64, f64, Result<u64, String>),
    #[outbox(unordered)]
    Tree(Tree),
    #[outbox(unordered)]
    Flat {
        id: u64,
        #[serde(flatten)]
        payment: Payment,
    },
    #[outbox(unordered)]
    Unit,
}

/// A type that contains itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Payment {
    Card { last4: String, limit: Option<u64> },
    Cash,
}

/// Every kind of character but NUL, which no JSON of PostgreSQL can hold.
const TEXT: &str = "[^\0]*";

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = TEXT.prop_map(|name| Tree {
        name,
        children: Vec::new(),
    });
    leaf.prop_recursive(3, 8, 3, |inner| {
        let tree = (TEXT, vec(inner, 0..3));
        tree.prop_map(|(name, children)| Tree { name, children })
    })
}

fn payment() -> impl Strategy<Value = Payment> {
    let card = (TEXT, any::<Option<u64>>());
    let card = card.prop_map(|(last4, limit)| Payment::Card { last4, limit });
    prop_oneof![card, Just(Payment::Cash)]
}

/// A zero has a sign where `zero` is one with a sign.
fn float(zero: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        num::f64::NORMAL,
        num::f64::SUBNORMAL,
        Just(0.0),
        Just(zero),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
    ]
}

prop_compose! {
    fn named(zero: f64)(
        text in TEXT, one_char in prop::char::range('\u{1}', '\u{d7ff}'), wide: (u128, i128),
        narrow: [i8; 3], floats in vec(float(zero), 0..4), single in num::f32::NORMAL,
        nested: Option<Vec<Option<u64>>>, map in btree_map(TEXT, any::<Vec<i64>>(), 0..4),
        numbered: BTreeMap<u32, bool>, left_out in option::of(TEXT),
    ) -> Anything {
        Anything::Named {
            text, one_char, wide, narrow, floats, single, nested, map, numbered, left_out,
        }
    }
}

fn anything(zero: f64) -> impl Strategy<Value = Anything> {
    prop_oneof![
        4 => named(zero),
        1 => any::<u128>().prop_map(Anything::Newtype),
        1 => any::<Option<i64>>().prop_map(Anything::Optional),
        1 => (any::<i64>(), float(zero), maybe_ok(any::<u64>(), TEXT))
            .prop_map(|(integer, float, result)| Anything::Tuple(integer, float, result)),
        1 => tree().prop_map(Anything::Tree),
        1 => (any::<u64>(), payment()).prop_map(|(id, payment)| Anything::Flat { id, payment }),
        1 => Just(Anything::Unit),
    ]
}

/// Any event comes back bit for bit.
pub async fn any_event_comes_back_bit_for_bit<H: Harness>(harness: &H) {
    let zero = match H::LACKS.contains(&Capability::SignedZero) {
        true => 0.0,
        false => -0.0,
    };
    let mut runner = TestRunner::default();
    let owner = Actor::owner(harness).await;
    let mut emitted = BTreeMap::new();
    for _ in 0..64 {
        let event = anything(zero).new_tree(&mut runner).unwrap().current();
        emitted.insert(harness.emit(Draft::new(&event)).await, event);
    }
    let rows = owner.rows().await;
    assert_eq!(rows.len(), emitted.len());
    for row in rows {
        let event = &emitted[&row.id];
        let body: Body = match row.body {
            Some(body) => body,
            None => {
                let read = owner.store.read(&[row.position], usize::MAX).await.unwrap();
                read[0].body.clone().unwrap()
            }
        };
        let index = Anything::CONTRACT.find(&row.topic).unwrap();
        let found = decode_event::<Anything>(index, 1, &body.payload);
        // `Debug` tells all floats apart, and `==` does not.
        assert_eq!(format!("{:?}", found.unwrap()), format!("{event:?}"));
    }
}
