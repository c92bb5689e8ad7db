use super::schedule::Sign;
use crate::{
    error::BoxError,
    handler::{HandlerError, Wish},
    text,
};
use std::{any::Any, error::Error, fmt, fmt::Write, time::Duration};

/// A delivery that did not succeed: what is wished, and what happened.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) wish: Wish,
    pub(crate) text: String,
    /// Who failed.
    pub(crate) origin: Origin,
}

/// Where a failure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The handler said so.
    Handler,
    /// The handler did not finish in time.
    Timeout,
    /// The event cannot be read, or the handler panicked.
    Code,
}

/// The longest error text that is stored, in bytes.
pub(crate) const ERROR_BYTES: usize = 2_000;

impl Failure {
    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self {
            wish: Wish::Retry,
            text: text.into(),
            origin: Origin::Code,
        }
    }

    /// What it says about whatever the handlers of the topic need.
    pub(crate) fn sign(&self) -> Sign {
        match (self.origin, self.wish) {
            (Origin::Code, _) => Sign::Silent,
            (Origin::Timeout, _) => Sign::Hangs,
            (Origin::Handler, Wish::Outage) => Sign::Down,
            (Origin::Handler, Wish::Retry) => Sign::Fails,
            (Origin::Handler, Wish::RetryAfter(_) | Wish::Dead) => Sign::Answers,
        }
    }

    pub(crate) fn undecodable(error: &BoxError) -> Self {
        Self::code(chain(&**error))
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self {
            origin: Origin::Timeout,
            ..Self::code(format!("the handler did not finish within {limit:?}"))
        }
    }

    /// A caught panic; what `std::panic::panic_any` carries beside text has no words.
    pub(crate) fn panic(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Self::code(format!("the handler panicked: {message}"))
    }
}

impl From<HandlerError> for Failure {
    fn from(error: HandlerError) -> Self {
        Self {
            wish: error.wish(),
            text: chain(error.source()),
            origin: Origin::Handler,
        }
    }
}

/// An error and its sources in one line: `payload of version 1 cannot be decoded: …`.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let _ = write!(text, ": {error}");
        source = error.source();
    }
    text
}

/// What is stored of an error's text.
pub(crate) fn storable(text: &str) -> String {
    text::storable(text, ERROR_BYTES)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told() {
        let source = std::io::Error::other("disk");
        let error = crate::store::StoreError::new(
            crate::store::StoreErrorKind::Refused,
            "settling",
            source,
        );
        assert_eq!(
            Failure::from(HandlerError::dead(error)).text,
            "settling: the database refused the data: disk"
        );
    }
}
