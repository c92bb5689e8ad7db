use super::{EmitError, write};
use crate::outbox::Outbox;
use chrono::{DateTime, Utc};
use outbox_core::{Draft, EmitOptions, Emitted, HeaderValue};
use sea_orm::ConnectionTrait;
use std::{
    borrow::Cow,
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

/// Events that are about to be emitted together: set options, then `.await` it.
///
/// The options are for all events that do not set them themselves, as a [`Draft`] can. The output
/// tells what became of each, in the order of the input.
///
/// # Cancel safety
/// Dropped before it is awaited, nothing was sent. Dropped while it is awaited, some of the events
/// may be part of the transaction: roll that back, which dropping the transaction does.
#[must_use = "not emitted until awaited"]
pub struct EmitAll<'a, C: ?Sized> {
    conn: &'a C,
    outbox: Outbox,
    drafts: Vec<Draft>,
    options: EmitOptions,
}

impl<'a, C: ConnectionTrait + ?Sized> EmitAll<'a, C> {
    pub(super) fn new(conn: &'a C, outbox: Outbox, drafts: Vec<Draft>) -> Self {
        Self {
            conn,
            outbox,
            drafts,
            options: EmitOptions::new(),
        }
    }

    /// Delivers the events this long after they were written, by the database's clock.
    pub fn after(self, delay: Duration) -> Self {
        self.map(|options| options.after(delay))
    }

    /// Delivers the events at this time, by the database's clock; a past time means at once.
    pub fn at(self, time: DateTime<Utc>) -> Self {
        self.map(|options| options.at(time))
    }

    /// Says when the things happened; the default is now, by this process's clock.
    pub fn occurred_at(self, time: DateTime<Utc>) -> Self {
        self.map(|options| options.occurred_at(time))
    }

    /// Sets a header on all events that do not set it themselves.
    pub fn header(self, name: impl Into<Cow<'static, str>>, value: impl Into<HeaderValue>) -> Self {
        self.map(|options| options.header(name, value))
    }

    /// How long the dedupe keys of the [`Draft`]s are remembered, by the database's clock.
    pub fn dedupe_window(self, window: Duration) -> Self {
        self.map(|options| options.dedupe_window(window))
    }

    fn map(mut self, change: impl FnOnce(EmitOptions) -> EmitOptions) -> Self {
        self.options = change(self.options);
        self
    }
}

impl<'a, C: ConnectionTrait + ?Sized> IntoFuture for EmitAll<'a, C> {
    type Output = Result<Vec<Emitted>, EmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let options = self.options;
            let drafts = self.drafts.into_iter().map(|draft| draft.or(&options));
            write::many(self.conn, &self.outbox, drafts.collect()).await
        })
    }
}

impl<C: ?Sized> fmt::Debug for EmitAll<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmitAll")
            .field("events", &self.drafts.len())
            .finish_non_exhaustive()
    }
}
