//! One edit of a payload's fields a test: what stood there, what stands there now, and the verdict.

/// The field of a struct event before and after, and what is told.
macro_rules! edits {
    ($($name:ident { $($old:tt)* } => { $($new:tt)* }, $told:expr;)*) => {$(
        #[test]
        fn $name() {
            mod old {
                #[allow(unused_imports, reason = "an edit needs some of them")]
                use crate::lock::fields::*;
                crate::lock::edits::placed!($($old)*);
            }
            mod new {
                #[allow(unused_imports, reason = "an edit needs some of them")]
                use crate::lock::fields::*;
                crate::lock::edits::placed!($($new)*);
            }
            let told: &[&str] = &$told;
            let prefix = "order.placed version 1, ";
            let expected: Vec<_> = told.iter().map(|told| format!("{prefix}{told}")).collect();
            let schemas = outbox_seaorm::contract::Schemas::new;
            let old = schemas().with::<old::Placed>().unwrap();
            let new = schemas().with::<new::Placed>().unwrap();
            assert_eq!(crate::lock::told(&old, &new), expected);
        }
    )*};
}

/// A struct event of these fields; what stands before a `;` is attributes of the struct.
macro_rules! placed {
    ($(#$attr:tt)* ; $($fields:tt)*) => {
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[derive(outbox_seaorm::OutboxEvent)]
        #[outbox(aggregate = "order", unordered)]
        $(#$attr)*
        #[allow(dead_code, reason = "only its schema is looked at")]
        pub(super) struct Placed { $($fields)* }
    };
    ($($fields:tt)*) => { crate::lock::edits::placed!(; $($fields)*); };
}
pub(crate) use placed;

edits! {
    nothing { id: u64, note: String } => { id: u64, note: String }, [];
    another_order { id: u64, note: String } => { note: String, id: u64 }, [];
    another_comment {
        /// What it was for.
        note: String
    } => {
        /// What it is for.
        note: String
    }, [];
    another_rust_name { note: String } => { #[serde(rename = "note")] remark: String }, [];
    a_type_around_it { id: u64 } => { id: Box<OrderId> }, [];
    the_same_fields_flattened { id: u64, quantity: u32 } => { id: u64, #[serde(flatten)] line: Line }, [];

    an_optional_field_more { id: u64 } => { id: u64, note: Option<String> },
        ["compatible: `note` is a new field"];
    a_field_with_a_default_more { id: u64 } => { id: u64, #[serde(default)] count: u32 },
        ["compatible: `count` is a new field"];
    a_required_field_more { id: u64 } => { id: u64, note: String },
        ["breaks stored events: `note` is a new field"];
    a_field_less { id: u64, note: String } => { id: u64 },
        ["breaks consumers: `note` is written no longer"];
    a_nullable_field_less { id: u64, note: Option<String> } => { id: u64 },
        ["breaks consumers: `note` is written no longer"];
    a_field_less_that_could_be_missing {
        id: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>
    } => { id: u64 }, ["compatible: `note` is written no longer"];
    another_name { note: String } => { remark: String }, [
        "breaks consumers: `note` is written no longer",
        "breaks stored events: `remark` is a new field",
    ];
    another_name_by_serde { order_id: u64 } => { #[serde(rename = "orderId")] order_id: u64 }, [
        "breaks stored events: `orderId` is a new field",
        "breaks consumers: `order_id` is written no longer",
    ];

    a_wider_integer { id: u32 } => { id: u64 },
        ["breaks consumers: `id` was an unsigned 32-bit integer, can be an unsigned 64-bit integer now"];
    a_narrower_integer { id: u16 } => { id: u8 },
        ["breaks stored events: `id` was an unsigned 16-bit integer, is no more than an unsigned 8-bit integer now"];
    an_integer_with_a_sign { id: u8 } => { id: i8 },
        ["breaks consumers and stored events: `id` was an unsigned 8-bit integer, is a signed 8-bit integer now"];
    the_widest_integers { id: u128 } => { id: i128 },
        ["breaks consumers and stored events: `id` was an unsigned 128-bit integer, is a signed 128-bit integer now"];
    an_integer_that_is_not_zero { id: u8 } => { id: std::num::NonZeroU8 },
        ["breaks stored events: `id` was an unsigned 8-bit integer, is no more than an integer from 1 to 255 now"];
    a_float_for_an_integer { id: u8 } => { id: f64 },
        ["breaks consumers: `id` was an unsigned 8-bit integer, can be a float now"];
    a_wider_float { weight: f32 } => { weight: f64 },
        ["breaks consumers: `weight` was a 32-bit float, can be a float now"];
    a_text_for_an_integer { id: u8 } => { id: String },
        ["breaks consumers and stored events: `id` was an unsigned 8-bit integer, is a text now"];
    one_character { note: String } => { note: char },
        ["breaks stored events: `note` was a text, is no more than a text of one character now"];
    a_uuid { id: String } => { id: uuid::Uuid },
        ["breaks stored events: `id` was a text, is no more than a text (uuid) now"];
    no_uuid { id: uuid::Uuid } => { id: String },
        ["breaks consumers: `id` was a text (uuid), can be a text now"];

    null { note: String } => { note: Option<String> }, [
        "breaks consumers: `note` may be null now",
    ];
    no_null { note: Option<String> } => { note: String }, [
        "breaks stored events: `note` is never null now",
    ];
    null_of_a_type_with_a_name { line: Line } => { line: Option<Line> }, [
        "breaks consumers: `line` may be null now",
    ];
    null_left_out { note: Option<String> } => {
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>
    }, ["breaks consumers: `note` may be missing now"];
    null_no_longer_left_out {
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>
    } => { note: Option<String> }, ["compatible: `note` is always there now"];
    no_longer_left_out_and_required {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String
    } => { note: String }, ["breaks stored events: `note` is always there now"];

    a_value_more { colour: Colour } => { colour: MoreColours },
        ["breaks consumers: `colour` may be \"Blue\" now"];
    a_value_less { colour: MoreColours } => { colour: Colour },
        ["breaks stored events: `colour` is never \"Blue\" now"];
    any_text_for_values { colour: Colour } => { colour: String },
        ["breaks consumers: `colour` was one of \"Green\", \"Red\", can be a text now"];
    values_for_any_text { colour: String } => { colour: Colour },
        ["breaks stored events: `colour` was a text, is no more than one of \"Green\", \"Red\" now"];
    content_beside_values { colour: Colour } => { colour: ColourOrCode },
        ["breaks consumers: `colour` has the new variant Code"];

    a_variant_more { payment: Payment } => { payment: MorePayments },
        ["breaks consumers: `payment` has the new variant Voucher"];
    a_variant_less { payment: MorePayments } => { payment: Payment },
        ["breaks stored events: `payment` has no variant Voucher any more"];
    a_field_of_a_variant { payment: Payment } => { payment: CardWithLimit },
        ["breaks stored events: `payment.Card.limit` is a new field"];
    a_variant_of_a_tagged_enum { payment: Tagged } => { payment: MoreTagged },
        ["breaks consumers: `payment` has the new variant type=Cash"];
    a_field_of_a_tagged_variant { payment: Tagged } => { payment: TaggedWithLimit },
        ["compatible: `payment(type=Card).limit` is a new field"];
    a_variant_without_a_tag { either: Untagged } => { either: MoreUntagged },
        ["breaks consumers: `either` has the new variant a boolean"];
    a_variant_of_a_flattened_enum { #[serde(flatten)] payment: Tagged, id: u8 } => {
        #[serde(flatten)] payment: MoreTagged, id: u8
    }, ["breaks consumers: has the new variant type=Cash"];

    a_field_of_a_nested_type { lines: Vec<Line> } => { lines: Vec<LineWithPrice> },
        ["breaks stored events: `lines[].price` is a new field"];
    a_field_of_a_type_in_itself { tree: Tree } => { tree: NamedTree },
        ["breaks stored events: `tree.name` is a new field"];
    a_list_for_one { line: Line } => { line: Vec<Line> },
        ["breaks consumers and stored events: `line` was an object, is a list, each Line now"];
    a_set_for_a_list { tags: Vec<String> } => { tags: std::collections::BTreeSet<String> },
        ["breaks stored events: `tags` was a list, each a text, is no more than a set, each a text now"];
    a_list_of_a_fixed_length { bytes: Vec<u8> } => { bytes: [u8; 4] },
        ["breaks stored events: `bytes` was a list, each an unsigned 8-bit integer, \
          is no more than a list of 4, each an unsigned 8-bit integer now"];
    wider_items { counts: Vec<u8> } => { counts: Vec<u16> },
        ["breaks consumers: `counts[]` was an unsigned 8-bit integer, can be an unsigned 16-bit integer now"];
    a_longer_tuple { pair: (u8, bool) } => { pair: (u8, bool, bool) },
        ["breaks consumers and stored events: `pair` was a tuple of 2, is a tuple of 3 now"];
    another_part_of_a_tuple { pair: (u8, bool) } => { pair: (u8, String) },
        ["breaks consumers and stored events: `pair[1]` was a boolean, is a text now"];
    another_type_in_a_map { prices: Map<String, u8> } => { prices: Map<String, bool> },
        ["breaks consumers and stored events: `prices{}` was an unsigned 8-bit integer, is a boolean now"];
    numbers_as_names_in_a_map { prices: Map<String, u8> } => { prices: Map<u32, u8> },
        ["breaks stored events: `prices` was a map, each an unsigned 8-bit integer, \
          is no more than a map with names like ^\\d+$, each an unsigned 8-bit integer now"];
    anything { note: String } => { note: serde_json::Value },
        ["breaks consumers: `note` was a text, can be anything now"];

    unknown_fields_refused { ; id: u64 } => { #[serde(deny_unknown_fields)]; id: u64 },
        ["compatible: refuses unknown fields now"];
    unknown_fields_ignored { #[serde(deny_unknown_fields)]; id: u64 } => { ; id: u64 },
        ["compatible: no longer refuses unknown fields"];
    a_field_more_where_unknown_ones_are_refused {
        #[serde(deny_unknown_fields)]; id: u64
    } => {
        #[serde(deny_unknown_fields)]; id: u64, note: Option<String>
    }, ["breaks consumers: `note` is a new field"];
    a_field_less_where_unknown_ones_are_refused {
        #[serde(deny_unknown_fields)]; id: u64, note: String
    } => {
        #[serde(deny_unknown_fields)]; id: u64
    }, ["breaks consumers and stored events: `note` is written no longer"];
}
