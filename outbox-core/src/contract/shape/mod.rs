//! A JSON Schema, as far as two of them are compared.

mod whole;
mod parse;

pub(super) use parse::ANNOTATIONS;
pub(super) use whole::Whole;

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// The values that a schema lets through.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Any,
    Null,
    Boolean,
    Integer {
        least: Whole,
        most: Whole,
    },
    Number {
        /// Whether it has 32 bits.
        single: bool,
    },
    Text(Text),
    /// Texts, one by one.
    Values(BTreeSet<String>),
    List(List),
    Tuple(Vec<Shape>),
    Object(Object),
    /// One of several.
    Either(Vec<Shape>),
    /// All of several at once: a flattened enum.
    All(Vec<Shape>),
    /// The definition of this name.
    Definition(String),
    /// What is not taken apart: equal to itself, and nothing else is known of it.
    Other(Value),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Text {
    pub(super) format: Option<String>,
    pub(super) pattern: Option<String>,
    pub(super) shortest: u64,
    pub(super) longest: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct List {
    pub(super) items: Box<Shape>,
    pub(super) shortest: u64,
    pub(super) longest: Option<u64>,
    pub(super) unique: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    pub(super) fields: BTreeMap<String, Field>,
    pub(super) rest: Rest,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) shape: Shape,
    pub(super) required: bool,
}

/// The fields that an object does not name.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rest {
    /// Whoever reads takes no notice of them.
    Ignored,
    Refused,
    /// A map. The names may follow a pattern.
    Map(Option<String>, Box<Shape>),
}

/// A schema with its definitions.
#[derive(Debug)]
pub(super) struct Document {
    root: Shape,
    definitions: BTreeMap<String, Shape>,
}

impl Document {
    pub(super) fn root(&self) -> &Shape {
        &self.root
    }

    /// The shape itself, if it is the name of another.
    pub(super) fn resolve<'a>(&'a self, mut shape: &'a Shape) -> &'a Shape {
        // A name may stand for a name, and a malformed lock for itself.
        for _ in 0..=self.definitions.len() {
            let Shape::Definition(name) = shape else {
                break;
            };
            let Some(definition) = self.definitions.get(name) else {
                break;
            };
            shape = definition;
        }
        shape
    }

    /// The shape in words: without the names of what has no fields.
    pub(super) fn in_words(&self, shape: &Shape) -> String {
        match self.resolve(shape) {
            Shape::Either(several) => {
                let several = several.iter().map(|one| self.spelled(one));
                Shape::Either(several.collect()).to_string()
            }
            Shape::List(list) => {
                let items = Box::new(self.spelled(&list.items));
                Shape::List(List {
                    items,
                    ..list.clone()
                })
                .to_string()
            }
            other => other.to_string(),
        }
    }

    fn spelled(&self, shape: &Shape) -> Shape {
        match self.resolve(shape) {
            Shape::Object(_) | Shape::All(_) | Shape::Either(_) => shape.clone(),
            other => other.clone(),
        }
    }
}

impl Shape {
    /// Whether `null` is among several, and the others.
    pub(super) fn without_null(&self) -> (bool, Shape) {
        match self {
            Self::Either(several) if several.contains(&Self::Null) => {
                let mut others: Vec<_> = several
                    .iter()
                    .filter(|shape| **shape != Self::Null)
                    .cloned()
                    .collect();
                match others.len() {
                    1 => (true, others.remove(0)),
                    _ => (true, Self::Either(others)),
                }
            }
            _ => (false, self.clone()),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("a boolean"),
            Self::Integer { least, most } => match Whole::width(*least, *most) {
                Some((bits, true)) => write!(f, "a signed {bits}-bit integer"),
                Some((bits, false)) => write!(f, "an unsigned {bits}-bit integer"),
                None => write!(f, "an integer from {least} to {most}"),
            },
            Self::Number { single: true } => f.write_str("a 32-bit float"),
            Self::Number { single: false } => f.write_str("a float"),
            Self::Text(text) => text.fmt(f),
            Self::Values(values) => {
                let values: Vec<_> = values.iter().map(|value| format!("{value:?}")).collect();
                let one_of = if values.len() > 1 { "one of " } else { "" };
                write!(f, "{one_of}{}", values.join(", "))
            }
            Self::List(list) => {
                f.write_str(if list.unique { "a set" } else { "a list" })?;
                match (list.shortest, list.longest) {
                    (0, None) => {}
                    (least, Some(most)) if least == most => write!(f, " of {least}")?,
                    (least, Some(most)) => write!(f, " of {least} to {most}")?,
                    (least, None) => write!(f, " of {least} or more")?,
                }
                write!(f, ", each {}", list.items)
            }
            Self::Tuple(items) => write!(f, "a tuple of {}", items.len()),
            Self::Object(object) => match &object.rest {
                Rest::Map(None, shape) if object.fields.is_empty() => {
                    write!(f, "a map, each {shape}")
                }
                Rest::Map(Some(names), shape) if object.fields.is_empty() => {
                    write!(f, "a map with names like {names}, each {shape}")
                }
                _ => f.write_str("an object"),
            },
            Self::Either(several) => {
                f.write_str("either ")?;
                for (index, shape) in several.iter().enumerate() {
                    let or = if index > 0 { " or " } else { "" };
                    write!(f, "{or}{shape}")?;
                }
                Ok(())
            }
            Self::All(_) => f.write_str("an object"),
            Self::Definition(name) => f.write_str(name),
            Self::Other(schema) => write!(f, "the schema {schema}"),
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")?;
        if let Some(format) = &self.format {
            write!(f, " ({format})")?;
        }
        if let Some(pattern) = &self.pattern {
            write!(f, " like {pattern}")?;
        }
        match (self.shortest, self.longest) {
            (0, None) => Ok(()),
            (least, None) => write!(f, " of {least} characters or more"),
            (1, Some(1)) => f.write_str(" of one character"),
            (least, Some(most)) => write!(f, " of {least} to {most} characters"),
        }
    }
}
