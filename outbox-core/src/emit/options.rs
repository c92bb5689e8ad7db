use super::Due;
use crate::headers::{HeaderValue, Headers};
use chrono::{DateTime, Utc};
use std::{borrow::Cow, time::Duration};

/// The options of one emit; what is not set here may come from elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct EmitOptions {
    pub(super) due: Option<Due>,
    pub(super) occurred_at: Option<DateTime<Utc>>,
    pub(super) headers: Headers,
    /// Never for more than one event.
    pub(super) dedupe_key: Option<String>,
    pub(super) dedupe_window: Option<Duration>,
}

impl EmitOptions {
    /// No option set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Delivers the event this long after it was written, by the database's clock.
    pub fn after(mut self, delay: Duration) -> Self {
        self.due = Some(if delay.is_zero() {
            Due::Now
        } else {
            Due::After(delay)
        });
        self
    }

    /// Delivers the event at this time, by the database's clock; a past time means at once.
    pub fn at(mut self, time: DateTime<Utc>) -> Self {
        self.due = Some(Due::At(time));
        self
    }

    /// Says when the thing happened; the default is now, by this process's clock.
    pub fn occurred_at(mut self, time: DateTime<Utc>) -> Self {
        self.occurred_at = Some(time);
        self
    }

    /// Sets a header.
    pub fn header(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<HeaderValue>,
    ) -> Self {
        self.headers.set(name, value);
        self
    }

    /// How long dedupe keys are remembered: 24 hours if nobody says it.
    pub fn dedupe_window(mut self, window: Duration) -> Self {
        self.dedupe_window = Some(window);
        self
    }

    /// Takes from `defaults` what is not set here.
    pub(super) fn fill(&mut self, defaults: &Self) {
        self.due = self.due.or(defaults.due);
        self.occurred_at = self.occurred_at.or(defaults.occurred_at);
        self.headers.fill(&defaults.headers);
        self.dedupe_window = self.dedupe_window.or(defaults.dedupe_window);
    }
}
