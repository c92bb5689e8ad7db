//! The lock file.

use super::told_at;
use outbox_seaorm::{
    OutboxEvent,
    contract::{self, Schemas},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs;

/// An order was placed.
#[derive(Serialize, Deserialize, JsonSchema, OutboxEvent)]
#[outbox(aggregate = "order", unordered)]
struct Placed {
    /// The order's number.
    id: u64,
    #[serde(default)]
    note: String,
}

mod broken {
    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema, OutboxEvent)]
    #[outbox(aggregate = "order", unordered)]
    pub(super) struct Placed {
        id: String,
    }
}

fn schemas<E: OutboxEvent + JsonSchema>() -> Schemas {
    Schemas::new().with::<E>().unwrap()
}

#[test]
fn the_text_is_the_same_in_every_build() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.lock.json");
    contract::update(&schemas::<Placed>(), &path).unwrap();
    insta::assert_snapshot!(fs::read_to_string(&path).unwrap());
}

#[test]
fn a_missing_file_is_one_without_topics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.lock.json");
    assert_eq!(
        told_at(&schemas::<Placed>(), &path),
        ["order.placed version 1, compatible: is a new topic"]
    );
    assert_eq!(told_at(&Schemas::new(), &path), <[&str; 0]>::default());
}

#[test]
fn what_breaks_others_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.lock.json");
    contract::update(&schemas::<Placed>(), &path).unwrap();
    let before = fs::read_to_string(&path).unwrap();
    let error = contract::update(&schemas::<broken::Placed>(), &path).unwrap_err();
    assert!(error.changes().iter().any(|change| change.effect.breaks()));
    assert_eq!(fs::read_to_string(&path).unwrap(), before);

    let told = format!("{error:?}");
    assert!(
        told.contains("outbox.lock.json:\n- order.placed version 1, breaks"),
        "{told}"
    );
    assert!(told.contains("write `version = N` at the topic"), "{told}");

    // Nobody has ever read it: it goes by hand.
    fs::remove_file(&path).unwrap();
    contract::update(&schemas::<broken::Placed>(), &path).unwrap();
    contract::check(&schemas::<broken::Placed>(), &path).unwrap();
}

#[test]
fn a_file_that_is_no_lock_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.lock.json");
    for text in ["", "[]", r#"{"topics":{"order.placed":{"one":{}}}}"#] {
        fs::write(&path, text).unwrap();
        let error = contract::check(&Schemas::new(), &path).unwrap_err();
        assert!(error.changes().is_empty());
        assert!(error.to_string().contains("outbox.lock.json"), "{error}");
        assert!(contract::update(&schemas::<Placed>(), &path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(
        &path,
        r##"{"topics":{"order.placed":{"1":{"$ref":"#/definitions/Lost"}}}}"##,
    )
    .unwrap();
    let error = contract::check(&schemas::<Placed>(), &path).unwrap_err();
    assert!(error.to_string().contains("refers to Lost"), "{error}");
}
