//! Headers travel beside the payload: a JSON object of strings and numbers.

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// The schema version of the payload, a number; set from the event's type.
pub const SCHEMA_VERSION: &str = "schema_version";
/// The [W3C trace context](https://www.w3.org/TR/trace-context/) of whoever emitted the event.
pub const TRACEPARENT: &str = "traceparent";
/// The vendor part of the W3C trace context.
pub const TRACESTATE: &str = "tracestate";
/// The trace's id alone, for people who search logs.
pub const TRACE_ID: &str = "trace_id";
/// The tenant the event belongs to.
pub const TENANT_ID: &str = "tenant_id";
/// What a whole chain of events has in common: usually the id of the first request or event.
pub const CORRELATION_ID: &str = "correlation_id";
/// The event whose handler emitted this one.
pub const CAUSATION_ID: &str = "causation_id";
/// The replay that brought the event back: see [`Operator::replay`](crate::Operator::replay).
pub const REPLAY_ID: &str = "replay_id";

/// The headers of an event, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Headers(BTreeMap<Cow<'static, str>, HeaderValue>);

/// A header's value: a string or a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HeaderValue {
    /// Text.
    Text(String),
    /// A JSON number.
    Number(serde_json::Number),
}

impl Headers {
    /// No headers.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The value of a header.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&HeaderValue> {
        self.0.get(name)
    }

    /// The value of a header that is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            HeaderValue::Text(text) => Some(text),
            HeaderValue::Number(_) => None,
        }
    }

    /// The schema version of the payload, 1 where none is named; `None` where a foreign writer
    /// stored what is no version.
    pub(crate) fn schema_version(&self) -> Option<u32> {
        match self.get(SCHEMA_VERSION) {
            None => Some(1),
            Some(HeaderValue::Number(number)) => number.as_u64()?.try_into().ok(),
            Some(HeaderValue::Text(_)) => None,
        }
    }

    /// Sets a header, replacing the one of the same name.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<HeaderValue>) {
        self.0.insert(name.into(), value.into());
    }

    /// Adds what `other` has and `self` lacks.
    pub fn fill(&mut self, other: &Self) {
        for (name, value) in &other.0 {
            if !self.0.contains_key(name) {
                self.0.insert(name.clone(), value.clone());
            }
        }
    }

    /// The headers in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &HeaderValue)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Whether there is no header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<Cow<'static, str>>, V: Into<HeaderValue>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(iter: I) -> Self {
        let mut headers = Self::new();
        for (name, value) in iter {
            headers.set(name, value);
        }
        headers
    }
}

/// By hand: what serde derives tries one kind after the other, and makes an error for each number.
impl<'de> Deserialize<'de> for HeaderValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Kinds;

        impl<'de> Visitor<'de> for Kinds {
            type Value = HeaderValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a number")
            }

            fn visit_str<E>(self, text: &str) -> Result<HeaderValue, E> {
                Ok(text.into())
            }

            fn visit_string<E>(self, text: String) -> Result<HeaderValue, E> {
                Ok(text.into())
            }

            fn visit_u64<E>(self, number: u64) -> Result<HeaderValue, E> {
                Ok(number.into())
            }

            fn visit_i64<E>(self, number: i64) -> Result<HeaderValue, E> {
                Ok(number.into())
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<HeaderValue, E> {
                let number = serde_json::Number::from_f64(number);
                let number = number.ok_or_else(|| E::custom("a number without a value"))?;
                Ok(HeaderValue::Number(number))
            }

            /// A number of arbitrary precision, where an application has turned that on.
            fn visit_map<A: MapAccess<'de>>(self, number: A) -> Result<HeaderValue, A::Error> {
                let number = MapAccessDeserializer::new(number);
                serde_json::Number::deserialize(number).map(HeaderValue::Number)
            }
        }

        deserializer.deserialize_any(Kinds)
    }
}

impl From<&str> for HeaderValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for HeaderValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

macro_rules! from_number {
    ($($number:ty),*) => {$(
        impl From<$number> for HeaderValue {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        }
    )*};
}

from_number!(u8, u16, u32, u64, i8, i16, i32, i64);
