use crate::{error::BoxError, event::DecodeError};
use std::{error, fmt};

/// An event that cannot be emitted. Found before any SQL is sent: the transaction stays usable.
#[derive(Debug)]
pub struct InvalidEvent {
    kind: InvalidEventKind,
    /// The topic, where it was known already.
    topic: Option<&'static str>,
    detail: String,
    source: Option<BoxError>,
}

/// What is wrong with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidEventKind {
    /// The event cannot be serialised to JSON.
    Encode,
    /// What the event serialises to cannot be read back as the same type.
    Decode,
    /// The payload is longer than [`Limits::payload_bytes`](super::Limits::payload_bytes).
    PayloadTooLarge,
    /// The aggregate's key is empty, too long, or missing on an ordered event.
    Key,
    /// A header's name or value, or all headers together, are outside the limits.
    Header,
    /// A NUL character in the payload, the key or a header: PostgreSQL stores none.
    Nul,
    /// A topic or aggregate name is too long.
    Name,
    /// A delay or a time is outside what the databases store (years 1 to 9999).
    Time,
    /// A dedupe key is empty, too long, or not one on every database; or its window is none.
    DedupeKey,
}

impl InvalidEvent {
    pub(super) fn new(kind: InvalidEventKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            topic: None,
            detail: detail.into(),
            source: None,
        }
    }

    pub(super) fn json(kind: InvalidEventKind, source: serde_json::Error) -> Self {
        Self {
            source: Some(source.into()),
            ..Self::new(kind, "cannot be serialised to JSON")
        }
    }

    pub(super) fn decode(source: DecodeError) -> Self {
        let detail = "the payload could never be read back: mend the type's serde attributes";
        Self {
            source: Some(source.into()),
            ..Self::new(InvalidEventKind::Decode, detail)
        }
    }

    pub(super) fn on(self, topic: &'static str) -> Self {
        Self {
            topic: Some(topic),
            ..self
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> InvalidEventKind {
        self.kind
    }

    /// The event's topic.
    #[must_use]
    pub fn topic(&self) -> Option<&'static str> {
        self.topic
    }
}

impl fmt::Display for InvalidEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.topic {
            Some(topic) => write!(f, "event of topic {topic}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl error::Error for InvalidEvent {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
