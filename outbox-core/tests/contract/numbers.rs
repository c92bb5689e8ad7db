use crate::{
    json_schema::refusal,
    support::{delivered, emitted},
};
use outbox_seaorm::{OutboxEvent, contract::Schemas};
use proptest::prelude::*;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Amounts {
    u64: u64,
    i64: i64,
    u128: u128,
    i128: i128,
    f64: f64,
    f32: f32,
    decimal: Decimal,
    nested: Option<Vec<Option<u64>>>,
    map: BTreeMap<String, i128>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, OutboxEvent)]
#[outbox(aggregate = "account")]
enum Event {
    Newtype(#[outbox(key)] u128),
    #[outbox(unordered)]
    Amounts(Amounts),
    #[outbox(key_const = "k")]
    Named {
        amounts: Amounts,
        text: String,
        bytes: Vec<u8>,
        either: Result<u64, String>,
        c: char,
    },
    Tuple(#[outbox(key)] i64, u64, f64, Option<Amounts>),
    #[outbox(unordered)]
    Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, u64>,
    },
    #[outbox(key_const = "k")]
    Unit,
}

fn extremes() -> Amounts {
    Amounts {
        u64: u64::MAX,
        i64: i64::MIN,
        u128: u128::MAX,
        i128: i128::MIN,
        f64: 0.1 + 0.2,
        f32: f32::MIN_POSITIVE,
        decimal: "7922816251426433759354395.0335".parse().unwrap(),
        nested: Some(vec![None, Some((1 << 53) + 1)]),
        map: BTreeMap::from([("é\n\u{1f600}\u{2028}".to_owned(), i128::MAX)]),
    }
}

fn comes_back(event: &Event) {
    let found = match event {
        Event::Newtype(_) => Event::Newtype(delivered(event, Event::NEWTYPE)),
        Event::Amounts(_) => Event::Amounts(delivered(event, Event::AMOUNTS)),
        Event::Named { .. } => delivered(event, Event::NAMED),
        Event::Tuple(..) => delivered(event, Event::TUPLE),
        Event::Flat { .. } => delivered(event, Event::FLAT),
        Event::Unit => delivered(event, Event::UNIT),
    };
    assert_eq!(found, *event);
    // -0.0 equals 0.0: compare the text as well.
    assert_eq!(emitted(&found).payload, emitted(event).payload);
}

#[test]
fn the_ends_of_every_number_come_back() {
    comes_back(&Event::Amounts(extremes()));
    comes_back(&Event::Newtype(u128::MAX));
    for float in [
        f64::MAX,
        f64::MIN,
        1e-308,
        5e-324,
        -0.0,
        0.1 + 0.2,
        1.2571076190921436e194,
    ] {
        comes_back(&Event::Tuple(i64::MIN, u64::MAX, float, Some(extremes())));
    }
    let rest = BTreeMap::from([("a".to_owned(), u64::MAX)]);
    comes_back(&Event::Flat { rest });
}

#[test]
fn the_payload_is_the_exact_text() {
    let event = Event::Tuple(i64::MIN, u64::MAX, 0.1 + 0.2, None);
    let text = "[-9223372036854775808,18446744073709551615,0.30000000000000004,null]";
    assert_eq!(emitted(&event).payload, text);
    let text = "340282366920938463463374607431768211455";
    assert_eq!(emitted(&Event::Newtype(u128::MAX)).payload, text);
}

prop_compose! {
    fn amounts()(
        u64: u64, i64: i64, u128: u128, i128: i128,
        f64 in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        f32 in prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO,
        mantissa in -(1_i128 << 96) + 1..1_i128 << 96, scale in 0..=28_u32,
        nested: Option<Vec<Option<u64>>>,
        map in prop::collection::btree_map("[^\0]*", any::<i128>(), 0..4),
    ) -> Amounts {
        let decimal = Decimal::from_i128_with_scale(mantissa, scale);
        Amounts { u64, i64, u128, i128, f64, f32, decimal, nested, map }
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        any::<u128>().prop_map(Event::Newtype),
        amounts().prop_map(Event::Amounts),
        (
            amounts(),
            "[^\0]*",
            any::<Vec<u8>>(),
            prop::result::maybe_ok(any::<u64>(), "[^\0]*"),
            prop::char::range('\u{1}', '\u{d7ff}'),
        )
            .prop_map(|(amounts, text, bytes, either, c)| Event::Named {
                amounts,
                text,
                bytes,
                either,
                c,
            }),
        (
            any::<i64>(),
            any::<u64>(),
            prop::num::f64::NORMAL,
            prop::option::of(amounts())
        )
            .prop_map(|(a, b, c, d)| Event::Tuple(a, b, c, d)),
        prop::collection::btree_map("[^\0]*", any::<u64>(), 0..4)
            .prop_map(|rest| Event::Flat { rest }),
        Just(Event::Unit),
    ]
}

proptest! {
    #[test]
    fn any_event_comes_back_bit_for_bit(event in event()) {
        comes_back(&event);
    }

    #[test]
    fn any_payload_is_one_of_its_schema(event in event()) {
        let schemas = Schemas::new().with::<Event>().unwrap();
        let row = emitted(&event);
        let payload = serde_json::from_str(&row.payload).unwrap();
        let schema = schemas.schema(row.topic).unwrap();
        prop_assert_eq!(refusal(schema, &payload), None);
    }
}
