use crate::support::{delivered, emitted};
use outbox_seaorm::{Draft, Headers, InvalidEventKind, Limits, OutboxEvent};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{collections::BTreeMap, error::Error};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
#[serde(
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Honoured {
    #[serde(rename = "completely different", alias = "before")]
    Fields {
        #[outbox(key)]
        order_id: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit_price: Option<u64>,
        #[serde(default = "seven", rename = "w", alias = "weight")]
        gross_weight: u8,
        #[serde(skip)]
        cached: String,
        #[serde(with = "hex")]
        colour: u32,
    },
    #[outbox(unordered)]
    #[serde(with = "hex")]
    Variant(u32),
    #[outbox(unordered)]
    SkippedFields(u8, #[serde(skip)] String, u8),
    #[outbox(unordered)]
    SkippedContent(#[serde(skip)] u8),
    #[outbox(unordered)]
    Last,
}

fn seven() -> u8 {
    7
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u32, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format!("{value:x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u32, D::Error> {
        u32::from_str_radix(&String::deserialize(d)?, 16).map_err(D::Error::custom)
    }
}

fn fields() -> Honoured {
    Honoured::Fields {
        order_id: 1,
        unit_price: None,
        gross_weight: 7,
        cached: String::new(),
        colour: 255,
    }
}

#[test]
fn field_attributes_are_honoured() {
    assert_eq!(
        emitted(&fields()).payload,
        r#"{"orderId":1,"w":7,"colour":"ff"}"#
    );
    assert_eq!(delivered(&fields(), Honoured::FIELDS), fields());
    let older = r#"{"orderId":1,"colour":"ff"}"#;
    assert_eq!(Honoured::FIELDS.decode(older).unwrap(), fields());
    let alias = r#"{"orderId":1,"colour":"ff","weight":7,"unitPrice":null}"#;
    assert_eq!(Honoured::FIELDS.decode(alias).unwrap(), fields());
    let unknown = r#"{"orderId":1,"colour":"ff","x":7}"#;
    assert!(Honoured::FIELDS.decode(unknown).is_err());
}

#[test]
fn a_conversion_of_a_whole_variant_is_honoured() {
    assert_eq!(emitted(&Honoured::Variant(255)).payload, r#""ff""#);
    assert_eq!(delivered(&Honoured::Variant(255), Honoured::VARIANT), 255);
}

#[test]
fn skipped_fields_leave_the_payload() {
    let event = Honoured::SkippedFields(1, String::new(), 2);
    assert_eq!(emitted(&event).payload, "[1,2]");
    assert_eq!(delivered(&event, Honoured::SKIPPED_FIELDS), event);
    let event = Honoured::SkippedContent(0);
    assert_eq!(emitted(&event).payload, "{}");
    assert_eq!(delivered(&event, Honoured::SKIPPED_CONTENT), 0);
    assert_eq!(delivered(&Honoured::Last, Honoured::LAST), Honoured::Last);
}

/// Content that is tagged or untagged itself is the content's own business.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
enum Internally {
    Card { last4: String, limit: u64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacently {
    Big(u128),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u64),
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Nested {
    #[outbox(unordered)]
    Internally(Internally),
    #[outbox(unordered)]
    Adjacently(Adjacently),
    #[outbox(unordered)]
    Untagged(Untagged),
    #[outbox(unordered)]
    Flat {
        #[serde(flatten)]
        internally: Internally,
        id: u64,
    },
}

#[test]
fn tagged_enums_inside_a_variant_come_back() {
    let card = Internally::Card {
        last4: "4242".into(),
        limit: u64::MAX,
    };
    let event = Nested::Internally(card.clone());
    assert_eq!(delivered(&event, Nested::INTERNALLY), card);
    let event = Nested::Adjacently(Adjacently::Big(u128::MAX));
    assert_eq!(
        delivered(&event, Nested::ADJACENTLY),
        Adjacently::Big(u128::MAX)
    );
    for content in [Untagged::Number(u64::MAX), Untagged::Text("1".into())] {
        let event = Nested::Untagged(content.clone());
        assert_eq!(delivered(&event, Nested::UNTAGGED), content);
    }
    let event = Nested::Flat {
        internally: card,
        id: u64::MAX,
    };
    assert_eq!(delivered(&event, Nested::FLAT), event);
}

/// A struct event is serde's alone: every container attribute is allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", key = order_id)]
#[serde(tag = "kind", rename_all = "camelCase", default)]
struct Tagged {
    order_id: u64,
}

impl Default for Tagged {
    fn default() -> Self {
        Self { order_id: 9 }
    }
}

#[test]
fn a_struct_is_left_to_serde() {
    let event = Tagged { order_id: 1 };
    assert_eq!(emitted(&event).payload, r#"{"kind":"Tagged","orderId":1}"#);
    assert_eq!(delivered(&event, Tagged::TOPIC), event);
}

fn refused<E: OutboxEvent>(event: &E) -> (InvalidEventKind, String) {
    let error = Draft::new(event)
        .finish(&Limits::default(), &Headers::new())
        .unwrap_err();
    let source = error.source().unwrap();
    let cause = source.source().unwrap_or(source).to_string();
    (error.kind(), cause)
}

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Unreadable {
    #[outbox(unordered)]
    Float(f64),
    #[outbox(unordered)]
    OneWay(#[serde(serialize_with = "hex::serialize")] u32),
    /// Serde's `flatten` reads through a buffer that knows no 128-bit numbers.
    #[outbox(unordered)]
    Flat {
        #[serde(flatten)]
        wide: BTreeMap<String, u128>,
    },
}

#[test]
fn what_could_never_be_read_is_refused_when_it_is_emitted() {
    assert_eq!(
        refused(&Unreadable::Float(f64::NAN)).0,
        InvalidEventKind::Decode
    );
    assert_eq!(refused(&Unreadable::OneWay(1)).0, InvalidEventKind::Decode);
    let wide = BTreeMap::from([("a".to_owned(), u128::MAX)]);
    assert_eq!(
        refused(&Unreadable::Flat { wide }).0,
        InvalidEventKind::Decode
    );
}

/// An enum whose serde code was written by hand, and wrongly.
#[derive(Debug, OutboxEvent)]
#[outbox(aggregate = "order", verify = false)]
enum ByHand {
    #[outbox(unordered)]
    First,
    #[outbox(unordered)]
    Second,
    #[outbox(unordered)]
    Text,
}

impl Serialize for ByHand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::First | Self::Second => serializer.serialize_unit_variant("ByHand", 0, "First"),
            Self::Text => serializer.serialize_str("text"),
        }
    }
}

impl<'de> Deserialize<'de> for ByHand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "ByHand")]
        enum Shadow {
            First,
            Second,
            Text,
        }
        Ok(match Shadow::deserialize(deserializer)? {
            Shadow::First => Self::First,
            Shadow::Second | Shadow::Text => Self::Text,
        })
    }
}

#[test]
fn a_variant_never_passes_for_another() {
    assert_eq!(emitted(&ByHand::First).payload, "{}");
    let (kind, cause) = refused(&ByHand::Second);
    assert_eq!(kind, InvalidEventKind::Encode);
    assert!(cause.contains("its topic has number 1"), "{cause}");
    let (kind, cause) = refused(&ByHand::Text);
    assert_eq!(kind, InvalidEventKind::Encode);
    assert!(cause.contains("externally tagged"), "{cause}");
    let error = ByHand::SECOND.decode("{}").unwrap_err().to_string();
    assert!(
        error.contains("order.second") && error.contains("order.text"),
        "{error}"
    );
}
