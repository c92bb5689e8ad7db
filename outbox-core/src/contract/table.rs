use super::{
    ContractError, Schemas,
    payload::{DEFINITIONS, target},
    shape::{Document, Shape},
};
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write};

impl Schemas {
    /// What consumers must know, in Markdown: a table of all topics, and one of each topic's fields.
    ///
    /// The doc comments of variants and fields are the descriptions.
    ///
    /// # Errors
    /// When a schema refers to what it does not define.
    pub fn markdown(&self) -> Result<String, ContractError> {
        let mut text = self.catalogue().markdown();
        for (_, spec, payload) in self.topics() {
            let mut fields = Fields {
                document: Document::parse(&payload.written)?,
                definitions: payload.written.get(DEFINITIONS),
                rows: Vec::new(),
                within: Vec::new(),
            };
            fields.inside("", &payload.written);
            // Writing to a String cannot fail.
            let _ = write!(text, "\n## `{}`, version {}\n", spec.name, spec.version);
            let said = said(&payload.written);
            if !said.is_empty() {
                let _ = write!(text, "\n{said}\n");
            }
            if fields.rows.is_empty() {
                let root = fields.document.resolve(fields.document.root());
                let _ = match root {
                    Shape::Object(_) => write!(text, "\nThe payload says nothing: `{{}}`.\n"),
                    other => write!(text, "\nThe payload is {other}.\n"),
                };
                continue;
            }
            text.push_str("\n| field | | |\n|---|---|---|\n");
            for [path, what, said] in fields.rows {
                let _ = writeln!(text, "| `{path}` | {what} | {said} |");
            }
        }
        Ok(text)
    }
}

struct Fields<'a> {
    document: Document,
    definitions: Option<&'a Value>,
    /// Path, kind of value, and description of each field.
    rows: Vec<[String; 3]>,
    /// The definitions that the walk is inside of: a type may contain itself.
    within: Vec<String>,
}

impl<'a> Fields<'a> {
    /// The fields that stand somewhere inside of a value.
    fn inside(&mut self, path: &str, schema: &'a Value) {
        if let Some(name) = target(schema) {
            let definition = self.definitions.and_then(|all| all.get(&name));
            if let Some(definition) = definition.filter(|_| !self.within.contains(&name)) {
                self.within.push(name);
                self.inside(path, definition);
                self.within.pop();
            }
            return;
        }
        let required = schema.get("required").and_then(Value::as_array);
        let fields = schema.get("properties").and_then(Value::as_object);
        // In one order, whatever order `serde_json` keeps in this build.
        let fields: BTreeMap<_, _> = fields.into_iter().flatten().collect();
        for (name, field) in fields {
            let path = match path {
                "" => name.clone(),
                _ => format!("{path}.{name}"),
            };
            let always = required.is_some_and(|names| names.iter().any(|one| one == name));
            let kind = self.document.in_words(&Shape::of(field));
            let kind = kind.replace('|', "\\|");
            let kind = match always {
                true => kind,
                false => format!("{kind}, or missing"),
            };
            self.rows.push([path.clone(), kind, said(field)]);
            self.inside(&path, field);
        }
        match schema.get("items") {
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.inside(&format!("{path}[{index}]"), item);
                }
            }
            Some(items) => self.inside(&format!("{path}[]"), items),
            None => {}
        }
        if let Some(values) = schema.get("additionalProperties") {
            self.inside(&format!("{path}{{}}"), values);
        }
        for several in ["oneOf", "anyOf", "allOf"] {
            let several = schema.get(several).and_then(Value::as_array);
            for schema in several.into_iter().flatten() {
                self.inside(path, schema);
            }
        }
    }
}

/// The description, in one line of a table.
fn said(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    let text = text.unwrap_or_default().split_whitespace();
    let words: Vec<_> = text.collect();
    words.join(" ").replace('|', "\\|")
}
