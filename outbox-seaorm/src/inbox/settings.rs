use super::InboxError;
use crate::outbox::Outbox;
use std::{sync::Arc, time::Duration};

/// What one consumer has received; see the [module](super) for its two forms. Cheap to clone.
///
/// Each consumer of a service has an inbox of its own name: what one has done is new to the others.
/// The records are in the table `outbox_inbox` of the consumer's database, and are deleted after 14
/// days by the dispatcher of the same outbox, or by [`Outbox::prune`].
///
/// ```
/// use outbox_seaorm::Inbox;
///
/// let mails = Inbox::new("mails")?;
/// # Ok::<(), outbox_seaorm::inbox::InboxError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Inbox(Arc<Settings>);

#[derive(Debug)]
struct Settings {
    outbox: Outbox,
    consumer: String,
    lease: Duration,
}

impl Inbox {
    /// How long a message that was [begun](Self::begin) is left to whoever began it, unless the
    /// builder says otherwise: a minute.
    pub const LEASE: Duration = Duration::from_secs(60);
    /// The longest name of a consumer, in bytes.
    pub const CONSUMER_BYTES: usize = 200;

    /// The inbox of this consumer, in the tables of the default [`Outbox`].
    ///
    /// # Errors
    /// [`InvalidConsumer`](super::InboxErrorKind::InvalidConsumer).
    pub fn new(consumer: impl Into<String>) -> Result<Self, InboxError> {
        Self::builder(consumer).build()
    }

    /// Starts from the defaults.
    pub fn builder(consumer: impl Into<String>) -> InboxBuilder {
        InboxBuilder {
            outbox: Outbox::default(),
            consumer: consumer.into(),
            lease: Self::LEASE,
        }
    }

    /// The consumer's name.
    #[must_use]
    pub fn consumer(&self) -> &str {
        &self.0.consumer
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    pub(super) fn lease(&self) -> Duration {
        self.0.lease
    }
}

/// Builds an [`Inbox`].
#[derive(Debug, Clone)]
#[must_use]
pub struct InboxBuilder {
    outbox: Outbox,
    consumer: String,
    lease: Duration,
}

impl InboxBuilder {
    /// The outbox whose prefix and schema the table has.
    pub fn outbox(mut self, outbox: &Outbox) -> Self {
        self.outbox = outbox.clone();
        self
    }

    /// How long a message that was [begun](Inbox::begin) is left to whoever began it: longer than
    /// the longest call takes, with its timeout.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// The finished inbox.
    ///
    /// # Errors
    /// [`InvalidConsumer`](super::InboxErrorKind::InvalidConsumer).
    pub fn build(self) -> Result<Inbox, InboxError> {
        let name = &self.consumer;
        let wrong = if name.is_empty() || name.len() > Inbox::CONSUMER_BYTES {
            "must have 1 to 200 bytes"
        } else if name.contains('\0') {
            "has a NUL character (U+0000)"
        } else if name.ends_with(' ') {
            "ends with a space, which is no difference to MySQL"
        } else {
            return Ok(Inbox(Arc::new(Settings {
                outbox: self.outbox,
                consumer: self.consumer,
                // Far beyond any call, and what can be added to every clock.
                lease: self.lease.min(Duration::from_secs(366 * 24 * 60 * 60)),
            })));
        };
        Err(InboxError::invalid_consumer(wrong))
    }
}
