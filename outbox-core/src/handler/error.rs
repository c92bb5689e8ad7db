use crate::error::BoxError;
use std::{fmt, time::Duration};

/// Why a delivery did not succeed, and what the handler wishes to happen.
///
/// Any error becomes one through `?` and means *retry*. It is not an error type itself, so that
/// this conversion can exist.
#[derive(Debug)]
pub struct HandlerError {
    wish: Wish,
    source: BoxError,
}

/// What a handler that failed wishes to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wish {
    /// Try again as the topic's retry policy says.
    Retry,
    /// Try again after this time at the earliest, a year at most; the attempt counts.
    RetryAfter(Duration),
    /// Give up: no further attempt will help.
    Dead,
    /// Whatever the handler needs is down. The attempt does not count; the topic pauses and is
    /// probed with single events until one succeeds.
    Outage,
}

impl HandlerError {
    /// The event may succeed later. Several such failures in a row, over several aggregates, count
    /// as an outage that nobody reports: see [`outage`](Self::outage), which says so at once, and is
    /// never doubted.
    pub fn retry(source: impl Into<BoxError>) -> Self {
        Self::new(Wish::Retry, source)
    }

    /// The event may succeed after this time, such as a server's `Retry-After`.
    pub fn retry_after(after: Duration, source: impl Into<BoxError>) -> Self {
        Self::new(Wish::RetryAfter(after), source)
    }

    /// The event will never succeed: it becomes a dead letter at once.
    pub fn dead(source: impl Into<BoxError>) -> Self {
        Self::new(Wish::Dead, source)
    }

    /// Something that every event of the topic needs is down.
    pub fn outage(source: impl Into<BoxError>) -> Self {
        Self::new(Wish::Outage, source)
    }

    /// An error with this wish.
    pub fn new(wish: Wish, source: impl Into<BoxError>) -> Self {
        Self {
            wish,
            source: source.into(),
        }
    }

    /// What the handler wishes.
    #[must_use]
    pub fn wish(&self) -> Wish {
        self.wish
    }

    /// The error itself.
    #[must_use]
    pub fn source(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.source
    }
}

impl<E: Into<BoxError>> From<E> for HandlerError {
    fn from(source: E) -> Self {
        Self::retry(source)
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}
