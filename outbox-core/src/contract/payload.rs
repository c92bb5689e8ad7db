use super::ContractError;
use crate::event::{Contract, OutboxEvent, Shape};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// Where the schemas that are referred to stand, in each schema.
pub(super) const DEFINITIONS: &str = "definitions";

/// The JSON Schemas of one topic's payload, each complete in itself.
#[derive(Debug, Clone)]
pub(super) struct Payload {
    /// What is written: what consumers see.
    pub(super) written: Value,
    /// What is read: a field with a default may be missing.
    pub(super) read: Value,
}

/// The payload of each topic of `E`, in the order of its contract.
pub(super) fn payloads<E: OutboxEvent + JsonSchema>() -> Result<Vec<Payload>, ContractError> {
    // Draft 7 is what AsyncAPI's own schemas are an extension of.
    let settings = SchemaSettings::draft07();
    let written = schemas::<E>(settings.clone().for_serialize().into_generator())?;
    let read = schemas::<E>(settings.for_deserialize().into_generator())?;
    let both = written.into_iter().zip(read);
    Ok(both
        .map(|(written, read)| Payload { written, read })
        .collect())
}

fn schemas<E: OutboxEvent + JsonSchema>(
    mut generator: SchemaGenerator,
) -> Result<Vec<Value>, ContractError> {
    let whole = generator.subschema_for::<E>().to_value();
    let definitions = generator.take_definitions(true);
    let whole = match target(&whole) {
        Some(name) => definitions.get(&name).cloned().unwrap_or(whole),
        None => whole,
    };
    let contract = E::CONTRACT;
    let contents = match contract.shape {
        Shape::Struct => vec![whole],
        Shape::Unit => vec![anything()],
        Shape::Enum => variants(&whole, &units(&contract))
            .ok_or_else(|| ContractError::shape(contract.event))?,
    };
    contents
        .into_iter()
        .map(|content| complete(content, &definitions))
        .collect()
}

fn units(contract: &Contract) -> Vec<bool> {
    contract.topics.iter().map(|topic| topic.unit).collect()
}

/// The contents of the variants of an externally tagged enum.
///
/// They stand in the order of the declaration, but for the variants without fields: those are known,
/// and have no content.
fn variants(whole: &Value, units: &[bool]) -> Option<Vec<Value>> {
    let listed = whole.get("oneOf").or_else(|| whole.get("anyOf"));
    let mut contents = match listed {
        Some(listed) => listed.as_array()?.iter().filter_map(content).collect(),
        // An enum of unit variants alone.
        None => Vec::new(),
    }
    .into_iter();
    let variants = units
        .iter()
        .map(|unit| match unit {
            true => Some(anything()),
            false => contents.next(),
        })
        .collect::<Option<Vec<_>>>()?;
    contents.next().is_none().then_some(variants)
}

/// What stands under the tag, as the codec writes it.
fn content(variant: &Value) -> Option<Value> {
    let fields = variant.get("properties")?.as_object()?;
    let content = fields.values().next().filter(|_| fields.len() == 1)?;
    let is = |word: &str, value: Value| content.get(word) == Some(&value);
    let skipped = is("readOnly", json!(true)) && is("writeOnly", json!(true));
    let no_fields = is("maxItems", json!(0));
    let mut content = match skipped || no_fields {
        true => anything(),
        false => content.clone(),
    };
    if let (Some(text), Some(content)) = (variant.get("description"), content.as_object_mut()) {
        content.insert("description".to_owned(), text.clone());
    }
    Some(content)
}

/// An object that says nothing; whatever is read will do.
fn anything() -> Value {
    json!({"type": "object"})
}

/// The schema, with the definitions that it needs.
pub(super) fn complete(
    mut schema: Value,
    all: &Map<String, Value>,
) -> Result<Value, ContractError> {
    let mut needed = Map::new();
    let mut open = names(&schema);
    while let Some(name) = open.pop() {
        if needed.contains_key(&name) {
            continue;
        }
        let definition = all
            .get(&name)
            .ok_or_else(|| ContractError::reference(&name))?;
        open.extend(names(definition));
        needed.insert(name, definition.clone());
    }
    if let (false, Some(schema)) = (needed.is_empty(), schema.as_object_mut()) {
        schema.insert(DEFINITIONS.to_owned(), Value::Object(needed));
    }
    Ok(schema)
}

/// The definitions that a schema refers to itself.
fn names(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(words) => target(schema)
            .into_iter()
            .chain(words.values().flat_map(names))
            .collect(),
        Value::Array(list) => list.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

/// The name of the definition that a schema is a reference to.
pub(super) fn target(schema: &Value) -> Option<String> {
    let reference = schema.get("$ref")?.as_str()?;
    let (_, name) = reference.rsplit_once('/')?;
    Some(unescaped(name))
}

/// The name in the last part of a URI: `%20` is a space there, `~1` a slash.
fn unescaped(name: &str) -> String {
    let mut parts = name.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).map(|hex| u8::from_str_radix(hex, 16)) {
            Some(Ok(byte)) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            _ => {
                bytes.push(b'%');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    let name = String::from_utf8_lossy(&bytes);
    name.replace("~1", "/").replace("~0", "~")
}
