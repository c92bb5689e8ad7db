use schemars::{
    Schema,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

use super::shape::ANNOTATIONS;

/// A schema without what says nothing of the values: comments may change as they like.
pub(super) fn bare(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Ok(schema) = <&mut Schema>::try_from(&mut schema) {
        Bare.transform(schema);
    }
    schema
}

struct Bare;

impl Transform for Bare {
    fn transform(&mut self, schema: &mut Schema) {
        for word in ANNOTATIONS {
            schema.remove(word);
        }
        transform_subschemas(self, schema);
    }
}

/// The text of a document, the same whatever order `serde_json` keeps in this build.
pub(super) fn text(document: &Value) -> String {
    format!("{:#}\n", sorted(document))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let fields = fields.into_iter();
            let fields: Map<_, _> = fields
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect();
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
