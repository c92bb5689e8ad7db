//! Whether a value is one of a JSON Schema: as much of draft 7 as the schemas of events use.

use serde_json::{Map, Value, json};

/// Why a value is none of a schema; `None` when it is one.
pub(crate) fn refusal(schema: &Value, value: &Value) -> Option<String> {
    let check = Check { root: schema };
    check.value(schema, value, "").err()
}

struct Check<'a> {
    root: &'a Value,
}

/// What says nothing of the value, or stands beside a word that is read.
const SILENT: [&str; 13] = [
    "additionalProperties",
    "default",
    "definitions",
    "description",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "pattern",
    "patternProperties",
    "required",
    "title",
    "$schema",
];

impl Check<'_> {
    fn value(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let words = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(words) => words,
            _ => return Err(format!("{path}: {value} against {schema}")),
        };
        for (word, says) in words {
            let holds = match (word.as_str(), says) {
                ("$ref", Value::String(reference)) => {
                    let pointer = reference.trim_start_matches('#');
                    let definition = self.root.pointer(pointer);
                    self.value(definition.unwrap(), value, path)?;
                    true
                }
                ("type", Value::String(name)) => is(name, value),
                ("type", Value::Array(names)) => {
                    names.iter().any(|name| is(name.as_str().unwrap(), value))
                }
                ("const", constant) => constant == value,
                ("enum", Value::Array(values)) => values.contains(value),
                ("minimum" | "maximum", _) => value.as_f64().is_none_or(|number| {
                    let end = says.as_f64().unwrap();
                    if word == "minimum" {
                        number >= end
                    } else {
                        number <= end
                    }
                }),
                ("minLength" | "minItems", least) => {
                    length(value).is_none_or(|length| Some(length) >= least.as_u64())
                }
                ("oneOf", Value::Array(several)) => self.how_many(several, value, path) == 1,
                ("anyOf", Value::Array(several)) => self.how_many(several, value, path) > 0,
                ("allOf", Value::Array(several)) => {
                    self.how_many(several, value, path) == several.len()
                }
                ("items", items) => {
                    self.items(items, value, path)?;
                    true
                }
                ("properties", Value::Object(fields)) => {
                    self.fields(words, fields, value, path)?;
                    true
                }
                (word, _) => SILENT.contains(&word),
            };
            if !holds {
                return Err(format!("{path}: {value} against {word} {says}"));
            }
        }
        let none = Map::new();
        if !words.contains_key("properties") && value.is_object() {
            self.fields(words, &none, value, path)?;
        }
        for (word, length) in [("maxLength", length(value)), ("maxItems", length(value))] {
            let most = words.get(word).and_then(Value::as_u64);
            if most.is_some() && length > most {
                return Err(format!("{path}: {value} against {word} {most:?}"));
            }
        }
        Ok(())
    }

    fn how_many(&self, several: &[Value], value: &Value, path: &str) -> usize {
        let fitting = several.iter();
        fitting
            .filter(|schema| self.value(schema, value, path).is_ok())
            .count()
    }

    fn items(&self, schemas: &Value, value: &Value, path: &str) -> Result<(), String> {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            let schema = match schemas {
                Value::Array(schemas) => schemas.get(index).unwrap_or(&Value::Bool(true)),
                schema => schema,
            };
            self.value(schema, item, &format!("{path}[{index}]"))?;
        }
        Ok(())
    }

    fn fields(
        &self,
        words: &Map<String, Value>,
        fields: &Map<String, Value>,
        value: &Value,
        path: &str,
    ) -> Result<(), String> {
        let Some(object) = value.as_object() else {
            return Ok(());
        };
        for name in words
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if !object.contains_key(name.as_str().unwrap()) {
                return Err(format!("{path}: {name} is missing"));
            }
        }
        let numbered = words.get("patternProperties").and_then(Value::as_object);
        for (name, value) in object {
            let by_pattern = numbered.and_then(|patterns| {
                let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
                patterns.get("^\\d+$").filter(|_| digits)
            });
            let schema = fields.get(name).or(by_pattern);
            let schema = schema.or_else(|| words.get("additionalProperties"));
            self.value(
                schema.unwrap_or(&Value::Bool(true)),
                value,
                &format!("{path}.{name}"),
            )?;
        }
        Ok(())
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // What is beyond 64 bits is a float here.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

fn length(value: &Value) -> Option<u64> {
    let length = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        _ => return None,
    };
    u64::try_from(length).ok()
}

#[test]
fn each_word_refuses_something() {
    let cases: [(Value, Value, Value); 13] = [
        (json!({"type": "integer"}), json!(1), json!(1.5)),
        (json!({"type": ["string", "null"]}), json!(null), json!(1)),
        (
            json!({"minimum": 0, "maximum": 255}),
            json!(255),
            json!(256),
        ),
        (
            json!({"minLength": 1, "maxLength": 1}),
            json!("é"),
            json!("ab"),
        ),
        (
            json!({"items": {"type": "null"}, "minItems": 1}),
            json!([null]),
            json!([1]),
        ),
        (
            json!({"items": [{"type": "null"}], "maxItems": 1}),
            json!([null]),
            json!([null, 1]),
        ),
        (json!({"enum": ["a", "b"]}), json!("b"), json!("c")),
        (
            json!({"oneOf": [{"const": 1}, {"type": "integer"}]}),
            json!(2),
            json!(1),
        ),
        (
            json!({"anyOf": [{"const": 1}, {"const": 2}]}),
            json!(2),
            json!(3),
        ),
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}),
            json!(2),
            json!(3),
        ),
        (json!({"required": ["a"]}), json!({"a": 1}), json!({})),
        (
            json!({"properties": {"a": true}, "additionalProperties": false}),
            json!({"a": 1}),
            json!({"b": 1}),
        ),
        (
            json!({"$ref": "#/definitions/A", "definitions": {"A": {"type": "boolean"}}}),
            json!(true),
            json!(1),
        ),
    ];
    for (schema, good, bad) in cases {
        assert_eq!(refusal(&schema, &good), None, "{schema}");
        assert!(refusal(&schema, &bad).is_some(), "{schema}");
    }
    // A word that is not known is no promise that is kept.
    assert!(refusal(&json!({"multipleOf": 2}), &json!(2)).is_some());
}
