use super::{EmitError, write};
use crate::outbox::Outbox;
use chrono::{DateTime, Utc};
use outbox_core::{Draft, Emitted, HeaderValue};
use sea_orm::ConnectionTrait;
use std::{
    borrow::Cow,
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

/// An event that is about to be emitted: set options, then `.await` it.
///
/// The output tells the event's id, a UUIDv7 made here, or that of the event that was emitted with
/// the same dedupe key before.
///
/// # Cancel safety
/// Dropped before it is awaited, nothing was sent. Dropped while it is awaited, the event may or
/// may not be part of the transaction: roll that back, which dropping the transaction does.
#[must_use = "not emitted until awaited"]
pub struct EmitOne<'a, C: ?Sized> {
    conn: &'a C,
    outbox: Outbox,
    /// `emit_checked` outside a transaction fails when it is awaited.
    draft: Result<Draft, EmitError>,
}

impl<'a, C: ConnectionTrait + ?Sized> EmitOne<'a, C> {
    pub(super) fn new(conn: &'a C, outbox: Outbox, draft: Draft) -> Self {
        Self {
            conn,
            outbox,
            draft: Ok(draft),
        }
    }

    pub(super) fn failed(conn: &'a C, outbox: Outbox, error: EmitError) -> Self {
        Self {
            conn,
            outbox,
            draft: Err(error),
        }
    }

    /// Delivers the event this long after it was written, by the database's clock.
    ///
    /// A delayed event gets its place among the events of its aggregate when it falls due.
    pub fn after(self, delay: Duration) -> Self {
        self.map(|draft| draft.after(delay))
    }

    /// Delivers the event at this time, by the database's clock; a past time means at once.
    pub fn at(self, time: DateTime<Utc>) -> Self {
        self.map(|draft| draft.at(time))
    }

    /// Says when the thing happened; the default is now, by this process's clock. Stored in
    /// microseconds.
    pub fn occurred_at(self, time: DateTime<Utc>) -> Self {
        self.map(|draft| draft.occurred_at(time))
    }

    /// Sets a header. It wins over one of the current [`Context`](outbox_core::Context) and over
    /// one of the [`Outbox`].
    pub fn header(self, name: impl Into<Cow<'static, str>>, value: impl Into<HeaderValue>) -> Self {
        self.map(|draft| draft.header(name, value))
    }

    /// Writes the event only if none with this key was emitted within the window: 24 hours, or what
    /// [`dedupe_window`](Self::dedupe_window) says. Keys are the same for all topics of an outbox:
    /// let them begin with what they are for.
    ///
    /// ```
    #[doc = include_str!("doc_event.md")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use outbox_seaorm::{Emit, Emitted, schema};
    /// # use sea_orm::{Database, TransactionTrait};
    /// # let db = Database::connect("sqlite::memory:").await?;
    /// # schema::create(&db).await?;
    /// # let txn = db.begin().await?;
    /// let first = txn.emit(OrderPlaced { order_id: 7 }).dedupe_key("order-placed:7").await?;
    /// let again = txn.emit(OrderPlaced { order_id: 7 }).dedupe_key("order-placed:7").await?;
    /// assert_eq!(again, Emitted::Duplicate(first.id()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn dedupe_key(self, key: impl Into<String>) -> Self {
        self.map(|draft| draft.dedupe_key(key))
    }

    /// How long the dedupe key is remembered, by the database's clock.
    pub fn dedupe_window(self, window: Duration) -> Self {
        self.map(|draft| draft.dedupe_window(window))
    }

    fn map(mut self, change: impl FnOnce(Draft) -> Draft) -> Self {
        self.draft = self.draft.map(change);
        self
    }
}

impl<'a, C: ConnectionTrait + ?Sized> IntoFuture for EmitOne<'a, C> {
    type Output = Result<Emitted, EmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { write::one(self.conn, &self.outbox, self.draft?).await })
    }
}

impl<C: ?Sized> fmt::Debug for EmitOne<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the draft: payloads do not belong in logs.
        f.debug_struct("EmitOne").finish_non_exhaustive()
    }
}
