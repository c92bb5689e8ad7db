use super::{
    ContractError, Schemas,
    canonical::text,
    payload::{DEFINITIONS, complete, target},
};
use crate::{
    event::{Contract, TopicSpec},
    headers,
};
use schemars::{
    Schema,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What an AsyncAPI document says of the application as a whole.
#[derive(Debug, Clone)]
pub struct Info {
    title: String,
    version: String,
    description: Option<String>,
}

impl Info {
    /// The application's name, and the version of its interface.
    pub fn new(title: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            version: version.into(),
            description: None,
        }
    }

    /// The same with a description, which may be Markdown.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }
}

impl Schemas {
    /// The text of an [AsyncAPI 3](https://www.asyncapi.com) document: a channel a topic, with the
    /// message that is sent to it.
    ///
    /// Add the servers and bindings of your broker where the document is published.
    ///
    /// # Errors
    /// When a schema refers to what it does not define.
    pub fn asyncapi(&self, info: &Info) -> Result<String, ContractError> {
        let mut components = Components::default();
        let mut channels = Map::new();
        let mut operations = Map::new();
        let mut messages = Map::new();
        for (contract, spec, payload) in self.topics() {
            let key = free_key(spec.name, |key| messages.contains_key(key));
            let payload = components.take(payload.written.clone())?;
            messages.insert(key.clone(), message(contract, spec, payload));
            channels.insert(
                key.clone(),
                json!({
                    "address": spec.name,
                    "messages": { &key: { "$ref": format!("#/components/messages/{key}") } },
                }),
            );
            operations.insert(
                format!("send.{key}"),
                json!({
                    "action": "send",
                    "channel": { "$ref": format!("#/channels/{key}") },
                    "messages": [{ "$ref": format!("#/channels/{key}/messages/{key}") }],
                }),
            );
        }
        let mut about = json!({ "title": info.title, "version": info.version });
        if let Some(description) = &info.description {
            about["description"] = json!(description);
        }
        Ok(text(&json!({
            "asyncapi": "3.0.0",
            "info": about,
            "defaultContentType": "application/json",
            "channels": channels,
            "operations": operations,
            "components": { "messages": messages, "schemas": components.schemas },
        })))
    }
}

fn message(contract: &Contract, spec: &TopicSpec, payload: Value) -> Value {
    let mut message = json!({
        "name": spec.name,
        "title": contract.rust_name(spec),
        "contentType": "application/json",
        "headers": {
            "type": "object",
            "properties": {
                headers::SCHEMA_VERSION: { "type": "integer", "const": spec.version },
            },
            "required": [headers::SCHEMA_VERSION],
        },
        "x-aggregate": contract.aggregate,
        "x-in-order": spec.ordered,
    });
    if let Some(description) = payload.get("description") {
        message["description"] = description.clone();
    }
    if !spec.was.is_empty() {
        message["x-was"] = json!(spec.was);
    }
    message["payload"] = payload;
    message
}

/// The definitions of all payloads, by names that differ.
#[derive(Default)]
struct Components {
    schemas: BTreeMap<String, Value>,
    /// Each with the definitions that it refers to itself: two types may have one name.
    complete: BTreeMap<String, Value>,
}

impl Components {
    /// The schema with its definitions moved here.
    fn take(&mut self, mut schema: Value) -> Result<Value, ContractError> {
        let definitions = schema
            .as_object_mut()
            .and_then(|words| words.remove(DEFINITIONS));
        let Some(Value::Object(definitions)) = definitions else {
            return Ok(schema);
        };
        let mut names = Renamed::default();
        // In one order, whatever order `serde_json` keeps in this build.
        for (name, definition) in definitions.iter().collect::<BTreeMap<_, _>>() {
            let complete = complete(definition.clone(), &definitions)?;
            let key = free_key(name, |key| {
                self.complete
                    .get(key)
                    .is_some_and(|other| *other != complete)
            });
            self.complete.insert(key.clone(), complete);
            names.0.insert(name.clone(), key);
        }
        for (name, mut definition) in definitions {
            names.rename(&mut definition);
            if let Some(key) = names.0.get(&name) {
                self.schemas.insert(key.clone(), definition);
            }
        }
        names.rename(&mut schema);
        Ok(schema)
    }
}

/// Where definitions have gone.
#[derive(Default)]
struct Renamed(BTreeMap<String, String>);

impl Renamed {
    fn rename(&mut self, schema: &mut Value) {
        if let Ok(schema) = <&mut Schema>::try_from(schema) {
            self.transform(schema);
        }
    }
}

impl Transform for Renamed {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(key) = target(schema.as_value()).and_then(|name| self.0.get(&name)) {
            let reference = format!("#/components/schemas/{key}");
            schema.insert("$ref".to_owned(), Value::String(reference));
        }
        transform_subschemas(self, schema);
    }
}

/// A name that AsyncAPI allows for a component, and that is not taken.
fn free_key(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let key: String = name
        .chars()
        .map(|c| if legal(c) { c } else { '_' })
        .collect();
    let mut free = key.clone();
    let mut number = 1;
    while taken(&free) {
        number += 1;
        free = format!("{key}_{number}");
    }
    free
}
