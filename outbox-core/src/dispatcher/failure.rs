use crate::{
    error::BoxError,
    handler::{HandlerError, Wish},
};
use std::{any::Any, error::Error, fmt, fmt::Write, time::Duration};

/// A delivery that did not succeed: what is wished, and what happened.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) wish: Wish,
    pub(crate) text: String,
}

/// The longest error text that is stored, in bytes.
pub(crate) const ERROR_BYTES: usize = 2_000;

impl Failure {
    pub(crate) fn retry(text: impl Into<String>) -> Self {
        Self {
            wish: Wish::Retry,
            text: text.into(),
        }
    }

    pub(crate) fn undecodable(error: &BoxError) -> Self {
        Self::retry(chain(&**error))
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self::retry(format!("the handler did not finish within {limit:?}"))
    }

    /// A caught panic; what `std::panic::panic_any` carries beside text has no words.
    pub(crate) fn panic(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Self::retry(format!("the handler panicked: {message}"))
    }
}

impl From<HandlerError> for Failure {
    fn from(error: HandlerError) -> Self {
        Self {
            wish: error.wish(),
            text: chain(error.source()),
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

/// What is stored of an error's text: no NUL, cut at a character boundary.
pub(crate) fn storable(text: &str) -> String {
    let text = text.replace('\0', "\u{fffd}");
    let mut end = text.len().min(ERROR_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
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
    fn stored_errors_are_cut_at_a_character() {
        let long = "é".repeat(5_000);
        let stored = storable(&long);
        assert_eq!(stored.len(), ERROR_BYTES);
        assert!(long.starts_with(&stored));
        assert_eq!(storable(&format!("x{long}")).len(), ERROR_BYTES - 1);
        assert_eq!(storable("a\0b"), "a\u{fffd}b");
    }

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
