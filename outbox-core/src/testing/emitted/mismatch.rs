use super::EmittedEvent;
use crate::event::DecodeError;
use std::{error, fmt, fmt::Write};

/// What was emitted is not what should have been; the message lists it.
pub struct Mismatch {
    text: String,
    source: Option<DecodeError>,
}

/// How many events a message shows, and how much of a payload.
const EVENTS: usize = 50;
const PAYLOAD_BYTES: usize = 300;

impl Mismatch {
    pub(super) fn new(problem: &str, events: &[EmittedEvent]) -> Self {
        Self {
            text: format!("{problem}\n{}", listing(events)),
            source: None,
        }
    }

    pub(super) fn undecodable(event: &EmittedEvent, source: DecodeError) -> Self {
        let mut problem = format!("an emitted event cannot be decoded: {source}");
        let mut cause = error::Error::source(&source);
        while let Some(error) = cause {
            // Writing to a String cannot fail.
            let _ = write!(problem, ": {error}");
            cause = error.source();
        }
        Self {
            source: Some(source),
            ..Self::new(&problem, std::slice::from_ref(event))
        }
    }
}

fn listing(events: &[EmittedEvent]) -> String {
    if events.is_empty() {
        return "nothing was emitted".to_owned();
    }
    let mut text = "emitted were:".to_owned();
    for event in events.iter().take(EVENTS) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {event}");
    }
    if events.len() > EVENTS {
        let _ = write!(text, "\n  and {} more", events.len() - EVENTS);
    }
    text
}

impl fmt::Display for EmittedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = &self.envelope;
        write!(f, "{} of {}", event.topic, event.aggregate)?;
        if let Some(key) = &event.key {
            write!(f, " {key}")?;
        }
        write!(f, ", {}", self.state)?;
        if let Some(delay) = self.delay {
            write!(f, " after {delay:?}")?;
        }
        let shown = event.payload.floor_char_boundary(PAYLOAD_BYTES);
        let rest = if shown < event.payload.len() {
            "…"
        } else {
            ""
        };
        let payload = &event.payload[..shown];
        write!(f, ": {payload}{rest}, headers {}", event.headers)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// As a test shows it that unwraps.
impl fmt::Debug for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl error::Error for Mismatch {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
