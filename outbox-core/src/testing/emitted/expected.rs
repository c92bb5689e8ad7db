use super::EmittedEvent;
use crate::{
    event::{DecodeError, OutboxEvent},
    headers::HeaderValue,
};
use std::fmt;

/// What an event that should have been emitted looks like: what [`assert_emitted!`] makes of a
/// pattern.
///
/// [`assert_emitted!`]: crate::testing::assert_emitted
pub struct Expected<'a, E> {
    text: &'a str,
    matches: Box<dyn Fn(&E) -> bool + 'a>,
    headers: Vec<(String, HeaderValue)>,
}

impl<'a, E: OutboxEvent> Expected<'a, E> {
    /// An event of this type for which `matches` is true; `text` is for messages.
    pub fn new(text: &'a str, matches: impl Fn(&E) -> bool + 'a) -> Self {
        Self {
            text,
            matches: Box::new(matches),
            headers: Vec::new(),
        }
    }

    /// With this header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<HeaderValue>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The event, if it is the one.
    pub(super) fn take(&self, emitted: &EmittedEvent) -> Result<Option<E>, DecodeError> {
        let Some(event) = emitted.decode::<E>().transpose()? else {
            return Ok(None);
        };
        let headers = emitted.envelope.parse_headers().unwrap_or_default();
        let mut wanted = self.headers.iter();
        let has_headers = wanted.all(|(name, value)| headers.get(name) == Some(value));
        Ok((has_headers && (self.matches)(&event)).then_some(event))
    }
}

impl<E> fmt::Display for Expected<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.text)?;
        for (name, value) in &self.headers {
            match value {
                HeaderValue::Text(text) => write!(f, " with the header {name} = {text:?}")?,
                HeaderValue::Number(number) => write!(f, " with the header {name} = {number}")?,
            }
        }
        Ok(())
    }
}

/// A place in the list of what should have been emitted.
pub struct Step<'a>(pub(super) Kind<'a>);

pub(super) enum Kind<'a> {
    /// Any number of events.
    Others,
    One(Box<dyn One + 'a>),
}

/// An event of any type.
pub(super) trait One: fmt::Display {
    fn is(&self, emitted: &EmittedEvent) -> Result<bool, DecodeError>;
}

impl<'a> Step<'a> {
    /// Any number of events.
    #[must_use]
    pub fn others() -> Self {
        Self(Kind::Others)
    }
}

impl<'a, E: OutboxEvent + 'a> From<Expected<'a, E>> for Step<'a> {
    fn from(expected: Expected<'a, E>) -> Self {
        Self(Kind::One(Box::new(expected)))
    }
}

impl<E: OutboxEvent> One for Expected<'_, E> {
    fn is(&self, emitted: &EmittedEvent) -> Result<bool, DecodeError> {
        Ok(self.take(emitted)?.is_some())
    }
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Others => f.write_str(".."),
            Kind::One(one) => one.fmt(f),
        }
    }
}
