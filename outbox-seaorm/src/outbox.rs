use crate::{
    schema::{InvalidName, Names},
    wake,
};
use outbox_core::{HeaderValue, Headers, Limits, Wake};
use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

/// The settings of one outbox: where its tables are, what may be emitted, which headers every
/// event gets. Cheap to clone.
///
/// `Outbox::default()` is what `txn.emit(…)` uses. Applications with other settings keep a value
/// beside their connection and call [`Outbox::emit`]: there is no process-wide setting.
///
/// ```
/// use outbox_seaorm::Outbox;
///
/// let outbox = Outbox::builder().prefix("billing_").header("service", "billing").build()?;
/// # Ok::<(), outbox_seaorm::InvalidName>(())
/// ```
#[derive(Debug, Clone)]
pub struct Outbox(Arc<Settings>);

#[derive(Debug)]
struct Settings {
    names: Names,
    limits: Limits,
    headers: Headers,
    /// Whether dispatchers of other processes find what was emitted by polling alone.
    polled_only: bool,
    /// Wakes the dispatchers of this process. Kept here, or every emit would look it up.
    wake: Wake,
}

impl Outbox {
    /// Starts from the defaults.
    pub fn builder() -> OutboxBuilder {
        OutboxBuilder::default()
    }

    /// The names of the tables.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.0.names
    }

    /// What may be emitted.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The headers that every event gets unless it sets them itself.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.0.headers
    }

    /// What wakes the dispatchers of this process.
    pub(crate) fn wake(&self) -> &Wake {
        &self.0.wake
    }

    pub(crate) fn is_polled_only(&self) -> bool {
        self.0.polled_only
    }
}

impl Default for Outbox {
    fn default() -> Self {
        // Every `txn.emit(…)` asks for it.
        static DEFAULT: LazyLock<Outbox> =
            LazyLock::new(|| OutboxBuilder::default().with_names(Names::default()));
        DEFAULT.clone()
    }
}

/// Builds an [`Outbox`].
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct OutboxBuilder {
    prefix: String,
    schema: Option<String>,
    limits: Limits,
    headers: Headers,
    polled_only: bool,
}

impl OutboxBuilder {
    /// Puts this before every table name: `billing_` gives `billing_outbox_event`. One prefix is
    /// one service with one set of handlers. On SQLite, and where MySQL has `lower_case_table_names`,
    /// prefixes that differ only in case are one.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The schema (on MySQL the database) the tables are in; the default is the connection's own.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// What may be emitted.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A header for every event that does not set it itself.
    pub fn header(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<HeaderValue>,
    ) -> Self {
        self.headers.set(name, value);
        self
    }

    /// Leaves out what wakes dispatchers of other processes before their next poll, which is a
    /// second away at most. Without this, the tables of PostgreSQL get a trigger that sends a NOTIFY
    /// while a dispatcher sleeps, and a dispatcher LISTENs on a connection of its own. A trigger
    /// that is there already is not removed. Other databases are polled anyway.
    ///
    /// For servers that have no connection to spare, or applications that NOTIFY a lot themselves:
    /// transactions that notify commit one after the other.
    pub fn polled_only(mut self) -> Self {
        self.polled_only = true;
        self
    }

    /// The finished settings.
    ///
    /// # Errors
    /// When prefix or schema cannot be part of a table's name on every database.
    pub fn build(mut self) -> Result<Outbox, InvalidName> {
        let prefix = std::mem::take(&mut self.prefix);
        let names = Names::new(prefix, self.schema.take())?;
        Ok(self.with_names(names))
    }

    fn with_names(self, names: Names) -> Outbox {
        Outbox(Arc::new(Settings {
            wake: wake::handle(&names),
            names,
            limits: self.limits,
            headers: self.headers,
            polled_only: self.polled_only,
        }))
    }
}
