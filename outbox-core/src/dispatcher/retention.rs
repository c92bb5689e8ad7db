use crate::{error::BoxError, retry::RetryPolicy, store::Delivered};
use async_trait::async_trait;
use std::{fmt, future::Future, sync::Arc, time::Duration};
use tracing::warn;

/// How long what has been done with is kept. One dispatcher of the fleet deletes what is older, a
/// batch at a time.
#[derive(Clone)]
#[non_exhaustive]
pub struct Retention {
    /// Delivered events: 30 days. `None`: for ever.
    pub delivered: Option<Duration>,
    /// Dead letters that hold back nothing: for ever.
    pub dead: Option<Duration>,
    /// What operators did: a year.
    pub operations: Option<Duration>,
    /// What consumers have received: 14 days. It must be longer than events can be delivered again:
    /// see [`RetryPolicy::horizon`]. Dedupe keys need no setting, they go when they have run out.
    pub inbox: Option<Duration>,
    /// How often it is looked for rows that are old enough: once a minute.
    pub every: Duration,
    /// How many rows one statement deletes at most: 1,000.
    pub batch: usize,
    /// Gets delivered events before they are deleted: nobody.
    pub archive: Option<Arc<dyn Archive>>,
}

impl Default for Retention {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            delivered: Some(DAY * 30),
            dead: None,
            operations: Some(DAY * 365),
            inbox: Some(DAY * 14),
            every: Duration::from_secs(60),
            batch: 1_000,
            archive: None,
        }
    }
}

impl Retention {
    /// Warns where inboxes forget an event that this topic may still deliver again.
    pub(crate) fn check(&self, topic: &str, policy: &RetryPolicy) {
        let horizon = policy.horizon();
        if let Some(inbox) = self.inbox.filter(|inbox| *inbox < horizon) {
            warn!(
                topic,
                ?inbox,
                ?horizon,
                "inboxes forget an event before its last retry: keep them for longer"
            );
        }
    }
}

impl fmt::Debug for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retention")
            .field("delivered", &self.delivered)
            .field("dead", &self.dead)
            .field("operations", &self.operations)
            .field("inbox", &self.inbox)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

/// Gets delivered events before they are deleted. Async functions and closures of a
/// `Vec<Delivered>` are archives.
///
/// ```
/// use outbox_core::{BoxError, Retention, store::Delivered};
/// use std::{sync::Arc, time::Duration};
///
/// async fn upload(events: Vec<Delivered>) -> Result<(), BoxError> {
///     println!("{} events to the archive", events.len());
///     Ok(())
/// }
///
/// let mut retention = Retention::default();
/// retention.delivered = Some(Duration::from_secs(7 * 24 * 60 * 60));
/// retention.archive = Some(Arc::new(upload));
/// ```
#[async_trait]
pub trait Archive: Send + Sync + 'static {
    /// Keeps these events elsewhere, 100 at most. They are deleted when this has returned `Ok`; after
    /// an error, or when the process dies in between, it gets them again.
    ///
    /// # Errors
    /// When the events could not be kept: they stay where they are.
    async fn archive(&self, events: Vec<Delivered>) -> Result<(), BoxError>;
}

#[async_trait]
impl<F, Fut> Archive for F
where
    F: Fn(Vec<Delivered>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), BoxError>> + Send,
{
    async fn archive(&self, events: Vec<Delivered>) -> Result<(), BoxError> {
        self(events).await
    }
}
