//! What consumers are told of the events.

use outbox_seaorm::{
    OutboxEvent,
    contract::{Info, Schemas},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One line of an order.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Line {
    /// How many | of them.
    quantity: u32,
    parts: Vec<Line>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}

#[derive(Serialize, Deserialize, JsonSchema, OutboxEvent)]
#[outbox(aggregate = "order")]
enum OrderEvent {
    /// A customer
    /// has placed an order.
    #[outbox(was = "order.created", version = 3, oldest = 2, upcast(2 = _))]
    Placed {
        #[outbox(key)]
        order_id: u64,
        lines: Vec<Line>,
        #[serde(skip_serializing_if = "Option::is_none")]
        colour: Option<Colour>,
        prices: BTreeMap<String, u64>,
    },
    #[outbox(topic = "stripe:charge/yen", unordered)]
    Charge(Other),
    #[outbox(topic = "stripe.charge.yen", unordered)]
    Closed,
    #[outbox(unordered)]
    Note(String),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Other {
    line: other::Line,
    same: other::Box,
}

mod other {
    use super::*;

    /// Another type of the same name.
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct Line {
        text: String,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct Box {
        size: u8,
    }
}

#[derive(Serialize, Deserialize, JsonSchema, OutboxEvent)]
#[outbox(aggregate = "parcel", unordered)]
struct Shipped {
    same: other::Box,
}

fn schemas() -> Schemas {
    let schemas = Schemas::new().with::<OrderEvent>().unwrap();
    schemas.with::<Shipped>().unwrap()
}

/// Every reference of a document leads somewhere in it.
fn follow(document: &Value, value: &Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                let found = document.pointer(reference.trim_start_matches('#'));
                assert!(found.is_some(), "{reference} leads nowhere");
            }
            fields.values().for_each(|value| follow(document, value));
        }
        Value::Array(values) => values.iter().for_each(|value| follow(document, value)),
        _ => {}
    }
}

fn is_component_key(key: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    !key.is_empty() && key.chars().all(legal)
}

#[test]
fn the_asyncapi_document_has_what_the_specification_requires() {
    let info = Info::new("Shop", "1.2.3").description("What happens in the shop.");
    let text = schemas().asyncapi(&info).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["asyncapi"], "3.0.0");
    assert_eq!(document["info"]["title"], "Shop");
    assert_eq!(document["info"]["version"], "1.2.3");
    follow(&document, &document);

    let section = |name: &str| document.pointer(name).unwrap().as_object().unwrap();
    let messages = section("/components/messages");
    let channels = section("/channels");
    assert_eq!(channels.len(), 5);
    for (key, channel) in channels {
        assert!(is_component_key(key), "{key}");
        assert!(channel["address"].is_string());
        let message = &messages[key];
        assert_eq!(message["name"], channel["address"]);
        assert!(message["payload"].is_object());
        let version = &message["headers"]["properties"]["schema_version"]["const"];
        assert!(version.as_u64() >= Some(1), "{key}");
        let operation = &section("/operations")[&format!("send.{key}")];
        assert_eq!(operation["action"], "send");
        assert_eq!(operation["channel"]["$ref"], format!("#/channels/{key}"));
        // Messages of an operation are those of its channel, not those of the components.
        let reference = format!("#/channels/{key}/messages/{key}");
        assert_eq!(operation["messages"][0]["$ref"], reference);
    }
    for key in section("/components/schemas").keys() {
        assert!(is_component_key(key), "{key}");
    }
    let placed = &messages["order.placed"];
    assert_eq!(placed["title"], "OrderEvent::Placed");
    assert_eq!(placed["description"], "A customer\nhas placed an order.");
    assert_eq!(placed["x-was"][0], "order.created");
    assert_eq!(
        placed["headers"]["properties"]["schema_version"]["const"],
        3
    );
}

#[test]
fn types_of_one_name_are_told_apart_and_one_type_stands_once() {
    let text = schemas().asyncapi(&Info::new("Shop", "1")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let components = document["components"]["schemas"].as_object().unwrap();
    let names: Vec<_> = components.keys().map(String::as_str).collect();
    // Within one enum schemars tells them apart, between two types we do.
    assert_eq!(names, ["Box", "Colour", "Line", "Line2", "Other"]);
    assert!(components["Line"]["properties"]["quantity"].is_object());
    assert!(components["Line2"]["properties"]["text"].is_object());
    // Topics that give one key as well.
    let channels = document["channels"].as_object().unwrap();
    let address = |key: &str| channels[key]["address"].as_str().unwrap();
    assert_eq!(address("stripe_charge_yen"), "stripe:charge/yen");
    assert_eq!(address("stripe.charge.yen"), "stripe.charge.yen");
}

#[test]
fn the_markdown_names_every_field() {
    insta::assert_snapshot!(schemas().markdown().unwrap());
}
