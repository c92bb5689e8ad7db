use super::{Document, Field, List, Object, Rest, Shape, Text, Whole};
use crate::contract::{
    ContractError,
    payload::{DEFINITIONS, target},
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What says nothing of the values.
pub(in crate::contract) const ANNOTATIONS: [&str; 11] = [
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

impl Document {
    /// Takes a schema apart.
    pub(in crate::contract) fn parse(schema: &Value) -> Result<Self, ContractError> {
        let mut definitions = BTreeMap::new();
        if let Some(Value::Object(named)) = schema.get(DEFINITIONS) {
            for (name, schema) in named {
                definitions.insert(name.clone(), shape(schema));
            }
        }
        let document = Self {
            root: shape(schema),
            definitions,
        };
        let missing = document.missing(&document.root);
        let missing = missing.or_else(|| {
            let mut definitions = document.definitions.values();
            definitions.find_map(|shape| document.missing(shape))
        });
        match missing {
            Some(name) => Err(ContractError::reference(name)),
            None => Ok(document),
        }
    }

    /// A name that no definition has.
    fn missing<'a>(&self, shape: &'a Shape) -> Option<&'a str> {
        match shape {
            Shape::Definition(name) => {
                (!self.definitions.contains_key(name)).then_some(name.as_str())
            }
            Shape::List(list) => self.missing(&list.items),
            Shape::Tuple(shapes) | Shape::Either(shapes) | Shape::All(shapes) => {
                shapes.iter().find_map(|shape| self.missing(shape))
            }
            Shape::Object(object) => {
                let rest = match &object.rest {
                    Rest::Map(_, shape) => self.missing(shape),
                    Rest::Ignored | Rest::Refused => None,
                };
                let mut fields = object.fields.values();
                rest.or_else(|| fields.find_map(|field| self.missing(&field.shape)))
            }
            _ => None,
        }
    }
}

impl Shape {
    /// The shape of a schema, without its definitions.
    pub(in crate::contract) fn of(schema: &Value) -> Self {
        shape(schema)
    }
}

/// A schema is the words that it consists of; what is left over when they are read is not understood.
struct Words(Map<String, Value>);

fn shape(schema: &Value) -> Shape {
    let words = match schema {
        Value::Bool(true) => return Shape::Any,
        Value::Object(words) => words,
        _ => return Shape::Other(schema.clone()),
    };
    let mut words = Words(words.clone());
    words.0.retain(|word, _| {
        !ANNOTATIONS.contains(&word.as_str()) && word != DEFINITIONS && !word.starts_with("x-")
    });
    let read = words.shape();
    match read {
        Some(shape) if words.0.is_empty() => shape,
        _ => Shape::Other(schema.clone()),
    }
}

impl Words {
    fn shape(&mut self) -> Option<Shape> {
        if self.0.is_empty() {
            return Some(Shape::Any);
        }
        if let Some(name) = target(&Value::Object(self.0.clone())) {
            self.0.remove("$ref");
            return Some(Shape::Definition(name));
        }
        let mut parts = Vec::new();
        for several in ["oneOf", "anyOf"] {
            if let Some(several) = self.0.remove(several) {
                parts.push(either(several.as_array()?.iter().map(shape).collect()));
            }
        }
        if let Some(all) = self.0.remove("allOf") {
            parts.extend(all.as_array()?.iter().map(shape));
        }
        if !self.0.is_empty() {
            parts.insert(0, self.typed()?);
        }
        Some(match parts.len() {
            1 => parts.remove(0),
            _ => all(parts),
        })
    }

    fn typed(&mut self) -> Option<Shape> {
        let types = match self.0.remove("type") {
            None if self.0.contains_key("const") || self.0.contains_key("enum") => {
                return self.values();
            }
            // Fields of something that is an object anyhow.
            None => vec!["object".to_owned()],
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several
                .iter()
                .map(|one| one.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            Some(_) => return None,
        };
        let mut shapes = Vec::new();
        for one in &types {
            shapes.push(self.of_type(one)?);
        }
        Some(either(shapes))
    }

    fn of_type(&mut self, name: &str) -> Option<Shape> {
        Some(match name {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "integer" => self.integer()?,
            "number" => {
                let format = self.text("format");
                let single = format.as_deref() == Some("float");
                Shape::Number { single }
            }
            "string" => match self.0.contains_key("const") || self.0.contains_key("enum") {
                true => self.values()?,
                false => Shape::Text(Text {
                    format: self.text("format"),
                    pattern: self.text("pattern"),
                    shortest: self.length("minLength").unwrap_or(0),
                    longest: self.length("maxLength"),
                }),
            },
            "array" => self.array()?,
            "object" => self.object()?,
            _ => return None,
        })
    }

    fn values(&mut self) -> Option<Shape> {
        let mut values = match self.0.remove("enum") {
            Some(Value::Array(values)) => values,
            Some(_) => return None,
            None => Vec::new(),
        };
        values.extend(self.0.remove("const"));
        let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
        texts.collect::<Option<_>>().map(Shape::Values)
    }

    fn integer(&mut self) -> Option<Shape> {
        let (least, most) = match self.text("format").as_deref() {
            Some("int8") => range(i8::MIN.into(), i8::MAX.unsigned_abs().into()),
            Some("int16") => range(i16::MIN.into(), i16::MAX.unsigned_abs().into()),
            Some("int32") => range(i32::MIN.into(), i32::MAX.unsigned_abs().into()),
            Some("int64" | "int") => range(i64::MIN.into(), i64::MAX.unsigned_abs().into()),
            Some("int128") => range(i128::MIN, i128::MAX.unsigned_abs()),
            Some("uint8") => range(0, u8::MAX.into()),
            Some("uint16") => range(0, u16::MAX.into()),
            Some("uint32") => range(0, u32::MAX.into()),
            Some("uint64" | "uint") => range(0, u64::MAX.into()),
            Some("uint128") => range(0, u128::MAX),
            Some(_) => return None,
            None => (Whole::LEAST, Whole::MOST),
        };
        let least = self.end("minimum")?.unwrap_or(least).max(least);
        let most = self.end("maximum")?.unwrap_or(most).min(most);
        Some(Shape::Integer { least, most })
    }

    fn array(&mut self) -> Option<Shape> {
        let shortest = self.length("minItems").unwrap_or(0);
        let longest = self.length("maxItems");
        let items = self.0.remove("items");
        if let Some(Value::Array(items)) = &items {
            let len = u64::try_from(items.len()).ok()?;
            let whole = shortest == len && longest == Some(len);
            return whole.then(|| Shape::Tuple(items.iter().map(shape).collect()));
        }
        let items = Box::new(items.as_ref().map_or(Shape::Any, shape));
        Some(Shape::List(List {
            items,
            shortest,
            longest,
            unique: self.0.remove("uniqueItems") == Some(Value::Bool(true)),
        }))
    }

    fn object(&mut self) -> Option<Shape> {
        let required = self
            .0
            .remove("required")
            .unwrap_or(Value::Array(Vec::new()));
        let required = required.as_array()?.clone();
        let fields = match self.0.remove("properties") {
            None => Map::new(),
            Some(Value::Object(fields)) => fields,
            Some(_) => return None,
        };
        let fields = fields.iter().map(|(name, schema)| {
            let field = Field {
                shape: shape(schema),
                required: required.iter().any(|required| required == name),
            };
            (name.clone(), field)
        });
        let fields = fields.collect();
        let rest = match self.0.remove("additionalProperties") {
            None | Some(Value::Bool(true)) => Rest::Ignored,
            Some(Value::Bool(false)) => Rest::Refused,
            Some(schema) => Rest::Map(None, Box::new(shape(&schema))),
        };
        let rest = match (rest, self.0.remove("patternProperties")) {
            (rest, None) => rest,
            // The keys of a map that are numbers.
            (Rest::Refused, Some(Value::Object(patterns))) if patterns.len() == 1 => {
                let (pattern, schema) = patterns.iter().next()?;
                Rest::Map(Some(pattern.clone()), Box::new(shape(schema)))
            }
            _ => return None,
        };
        Some(Shape::Object(Object { fields, rest }))
    }

    fn text(&mut self, word: &str) -> Option<String> {
        let text = self.0.get(word)?.as_str()?.to_owned();
        self.0.remove(word);
        Some(text)
    }

    fn length(&mut self, word: &str) -> Option<u64> {
        let length = self.0.get(word)?.as_u64()?;
        self.0.remove(word);
        Some(length)
    }

    /// `Some(None)` where the word is missing, `None` where it is no whole number.
    fn end(&mut self, word: &str) -> Option<Option<Whole>> {
        match self.0.remove(word) {
            None => Some(None),
            Some(Value::Number(number)) => Whole::parse(&number).map(Some),
            Some(_) => None,
        }
    }
}

fn range(least: i128, most: u128) -> (Whole, Whole) {
    (Whole::signed(least), Whole::unsigned(most))
}

/// One of several, and of what those are one of. Texts are one shape, wherever a comment has put them.
fn either(shapes: Vec<Shape>) -> Shape {
    let mut several = Vec::new();
    let mut texts = BTreeSet::new();
    for shape in shapes {
        match shape {
            Shape::Either(shapes) => several.extend(shapes),
            Shape::Values(values) => texts.extend(values),
            shape => several.push(shape),
        }
    }
    if !texts.is_empty() {
        several.insert(0, Shape::Values(texts));
    }
    match several.len() {
        1 => several.remove(0),
        _ => Shape::Either(several),
    }
}

/// All of several at once. Objects that ignore what they do not know are one object.
fn all(parts: Vec<Shape>) -> Shape {
    let mut whole: Option<Object> = None;
    let mut others = Vec::new();
    for part in parts {
        match (part, &mut whole) {
            (Shape::Object(object), None) => whole = Some(object),
            (Shape::Object(object), Some(whole)) if object.rest == Rest::Ignored => {
                for (name, field) in object.fields {
                    whole.fields.insert(name, field);
                }
            }
            (part, _) => others.push(part),
        }
    }
    if let Some(mut whole) = whole {
        if !others.is_empty() {
            // A flattened enum's fields, which stand there once more.
            whole
                .fields
                .retain(|_, field| field.required || field.shape != Shape::Any);
        }
        others.insert(0, Shape::Object(whole));
    }
    match others.len() {
        1 => others.remove(0),
        _ => Shape::All(others),
    }
}
