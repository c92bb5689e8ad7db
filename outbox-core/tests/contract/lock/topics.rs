//! What changes around payloads: topics, versions, the shapes of variants.

use super::told;
use outbox_seaorm::{OutboxEvent, contract::Schemas};
use schemars::JsonSchema;

fn schemas<E: OutboxEvent + JsonSchema>() -> Schemas {
    Schemas::new().with::<E>().unwrap()
}

/// An enum event in a module of its own.
macro_rules! events {
    ($($module:ident { $($variants:tt)* })*) => {$(
        mod $module {
            #![allow(dead_code, reason = "only its schema is looked at")]

            use outbox_seaorm::OutboxEvent;
            use schemars::JsonSchema;
            use serde::{Deserialize, Serialize};

            #[derive(Serialize, Deserialize, JsonSchema)]
            pub(super) struct Charge {
                yen: u64,
            }

            #[derive(Serialize, Deserialize, JsonSchema, OutboxEvent)]
            #[outbox(aggregate = "order")]
            pub(super) enum Event { $($variants)* }
        }
    )*};
}

events! {
    first {
        #[outbox(unordered)]
        Placed { id: u64 },
        #[outbox(unordered)]
        Charge(Charge),
    }
    more {
        #[outbox(unordered)]
        Closed,
        #[outbox(unordered)]
        Placed { id: u64 },
        #[outbox(unordered)]
        Charge(Charge),
    }
    renamed {
        #[outbox(unordered, was = "order.placed")]
        Created { id: u64 },
        #[outbox(unordered, topic = "stripe.charge", was = "order.charge")]
        Charge(Charge),
    }
    renamed_and_changed {
        #[outbox(unordered, was = "order.placed")]
        Created { id: u64, note: String },
        #[outbox(unordered)]
        Charge(Charge),
    }
    second {
        #[outbox(unordered, version = 2, upcast(1 = _))]
        Placed { id: String },
        #[outbox(unordered)]
        Charge(Charge),
    }
    without_the_first {
        #[outbox(unordered, version = 2, oldest = 2)]
        Placed { id: String },
        #[outbox(unordered)]
        Charge(Charge),
    }
    // Each shape of a variant, among others without content.
    shapes {
        #[outbox(unordered)]
        Unit,
        /// With a comment it stands elsewhere in the schema.
        #[outbox(unordered)]
        Commented,
        #[outbox(unordered)]
        Empty {},
        #[outbox(unordered)]
        EmptyTuple(),
        #[outbox(unordered)]
        Skipped(#[serde(skip)] u8),
        #[outbox(unordered)]
        Tuple(u8, Charge),
        #[outbox(unordered)]
        #[serde(rename = "something else", alias = "once")]
        Named { yen: u64 },
        #[outbox(unordered)]
        Newtype(Charge),
        #[outbox(unordered)]
        Number(u8),
        #[outbox(unordered)]
        Last,
    }
}

#[test]
fn a_new_topic_is_compatible() {
    let told = told(&schemas::<first::Event>(), &schemas::<more::Event>());
    assert_eq!(told, ["order.closed version 1, compatible: is a new topic"]);
}

#[test]
fn a_topic_that_nobody_declares_any_more_is_told() {
    let told = told(&schemas::<more::Event>(), &schemas::<first::Event>());
    let gone = "breaks consumers and stored events: is declared by no type any more";
    assert_eq!(told, [format!("order.closed version 1, {gone}")]);
}

#[test]
fn a_renamed_topic_takes_its_versions_along() {
    let [old, new] = [schemas::<first::Event>(), schemas::<renamed::Event>()];
    assert_eq!(
        told(&old, &new),
        [
            "order.created version 1, compatible: was called order.placed",
            "stripe.charge version 1, compatible: was called order.charge"
        ]
    );
    let told = told(&old, &schemas::<renamed_and_changed::Event>());
    let added = "order.created version 1, breaks stored events: `note` is a new field";
    assert_eq!(
        told,
        [
            "order.created version 1, compatible: was called order.placed",
            added
        ]
    );
}

#[test]
fn a_new_version_may_be_anything() {
    let told = told(&schemas::<first::Event>(), &schemas::<second::Event>());
    assert_eq!(
        told,
        ["order.placed version 2, compatible: is a new version"]
    );
}

#[test]
fn a_version_that_is_read_no_longer_is_told() {
    let [old, new] = [
        schemas::<second::Event>(),
        schemas::<without_the_first::Event>(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.lock.json");
    outbox_seaorm::contract::update(&schemas::<first::Event>(), &path).unwrap();
    outbox_seaorm::contract::update(&old, &path).unwrap();
    assert_eq!(
        super::told_at(&new, &path),
        ["order.placed version 1, compatible: is read no longer"]
    );
    // The current version is compared as before.
    assert_eq!(super::told_at(&old, &path), <[&str; 0]>::default());
}

#[test]
fn a_version_cannot_be_taken_back() {
    let told = told(&schemas::<second::Event>(), &schemas::<first::Event>());
    let newer = "breaks consumers and stored events: is newer than the topic's own version";
    assert_eq!(
        told,
        [
            format!("order.placed version 2, {newer}"),
            "order.placed version 1, compatible: is a new version".to_owned()
        ]
    );
}

#[test]
fn a_schema_is_that_of_the_content_alone() {
    let schemas = schemas::<shapes::Event>();
    let schema = |topic: &str| {
        let mut schema = schemas.schema(topic).unwrap().clone();
        schema.as_object_mut().unwrap().remove("description");
        schema
    };
    let anything = serde_json::json!({"type": "object"});
    for topic in ["unit", "commented", "empty_tuple", "skipped", "last"] {
        assert_eq!(schema(&format!("order.{topic}")), anything, "{topic}");
    }
    assert_eq!(schema("order.empty")["type"], "object");
    assert_eq!(schema("order.number")["type"], "integer");
    assert_eq!(
        schema("order.named")["required"],
        serde_json::json!(["yen"])
    );
    assert_eq!(
        schema("order.tuple")["items"][1]["$ref"],
        "#/definitions/Charge"
    );
    let newtype = schema("order.newtype");
    assert_eq!(newtype["$ref"], "#/definitions/Charge");
    assert_eq!(newtype["definitions"]["Charge"]["required"][0], "yen");
}

#[test]
fn two_types_with_one_topic_are_refused() {
    let schemas = schemas::<first::Event>();
    let error = schemas.with::<second::Event>().unwrap_err().to_string();
    assert_eq!(error, "Event and Event both declare the topic order.placed");
}
