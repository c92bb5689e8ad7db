//! Headers travel beside the payload: a JSON object of strings and numbers.

use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::BTreeMap};

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

/// The headers of an event, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Headers(BTreeMap<Cow<'static, str>, HeaderValue>);

/// A header's value: a string or a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
