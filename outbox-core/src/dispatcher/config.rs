use super::retention::Retention;
use crate::{retry::RetryPolicy, store::History};
use std::{fmt, sync::Arc, time::Duration};

/// How a dispatcher works. Every default of the library stands here.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// How many handlers run at once, all topics together: 64. A free slot goes to the topic that
    /// has the fewest; where there are several topics, one slot in 16 is kept for those that have
    /// fewer than are free, so that a topic that hangs never has them all.
    pub concurrency: usize,
    /// What holds for topics that say nothing else.
    pub topic: TopicConfig,
    /// How long a dispatcher that died keeps its events from others: 10 s. Renewed at a third.
    pub lease: Duration,
    /// How long running handlers may finish at a shutdown: 25 s.
    pub grace: Duration,
    /// The shortest and the longest pause between two polls of an idle database: 10 ms and 1 s.
    pub poll: (Duration, Duration),
    /// How many events one fetch reads at most: 1,000.
    pub batch: usize,
    /// How many events wait in memory: 5,000, and at times a batch more. A topic that does not use
    /// up its share of them leaves it to the others.
    pub window: usize,
    /// How many bytes of payloads are in memory at most: 64 MiB, with which the process grows by less
    /// than 200 MiB. A single event may be longer.
    pub bytes: usize,
    /// How many outcomes one settle writes at most: 500. Over TCP a longer statement to PostgreSQL
    /// would wait 44 ms for the server's acknowledgement.
    pub settle_batch: usize,
    /// How long the first outcome of a batch waits for others: 5 ms.
    pub settle_linger: Duration,
    /// After how long without a turn of its loop a dispatcher lets its lease go: 60 s.
    pub stall_limit: Duration,
    /// How many owners may die with an event in work before it is a dead letter: 3.
    pub crash_limit: u32,
    /// What happens to delivered events: they are kept in the history.
    pub history: History,
    /// What happens when a topic that some known event type declares has no handler: a warning.
    pub unhandled: Unhandled,
    /// How long history, dead letters and the record of operators are kept.
    pub retention: Retention,
    /// Sees the whole text of an error and says what is stored of it: unchanged. At most 2,000
    /// bytes are stored.
    pub redact: Redact,
}

/// How the events of a topic are handled.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TopicConfig {
    /// How many handlers of the topic run at once: as many as of all topics together.
    pub concurrency: usize,
    /// How long one delivery may take: 60 s.
    pub timeout: Duration,
    /// When a failed event is tried again.
    pub retry: RetryPolicy,
    /// What a dead letter does to the events behind it: an ordered topic blocks its aggregate, an
    /// unordered one goes on.
    pub on_dead: Option<OnDead>,
    /// How long a batch that is not full waits for more events: not at all.
    pub linger: Duration,
}

/// What a dead letter does to the later events of its aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDead {
    /// They wait until an operator retries, skips or discards the dead letter.
    Block,
    /// They are delivered.
    Continue,
}

/// What to do about a declared topic that nobody handles, when a dispatcher is built.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unhandled {
    /// Say so in the log.
    #[default]
    Warn,
    /// Build no dispatcher.
    Refuse,
    /// Say nothing: others deliver from this outbox.
    Ignore,
}

/// A hook that removes secrets from error texts.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

impl Default for Config {
    fn default() -> Self {
        Self {
            concurrency: 64,
            topic: TopicConfig::default(),
            lease: Duration::from_secs(10),
            grace: Duration::from_secs(25),
            poll: (Duration::from_millis(10), Duration::from_secs(1)),
            batch: 1_000,
            window: 5_000,
            bytes: 64 * 1024 * 1024,
            settle_batch: 500,
            settle_linger: Duration::from_millis(5),
            stall_limit: Duration::from_secs(60),
            crash_limit: 3,
            history: History::Keep,
            unhandled: Unhandled::Warn,
            retention: Retention::default(),
            redact: Arc::new(str::to_owned),
        }
    }
}

impl Default for TopicConfig {
    fn default() -> Self {
        Self {
            concurrency: usize::MAX,
            timeout: Duration::from_secs(60),
            retry: RetryPolicy::default(),
            on_dead: None,
            linger: Duration::ZERO,
        }
    }
}

impl Config {
    /// How long a session that begins waits for an answer of the database. It may be that of a dead
    /// connection, and the next one of another.
    pub(crate) fn answer_limit(&self) -> Duration {
        self.lease.max(Duration::from_secs(5))
    }

    /// Payloads up to this many bytes come with a fetch, so that a full window stays in the budget.
    pub(crate) fn inline_bytes(&self) -> usize {
        (self.bytes / 2 / self.window.max(1)).max(256)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("concurrency", &self.concurrency)
            .field("topic", &self.topic)
            .field("lease", &self.lease)
            .field("grace", &self.grace)
            .field("poll", &self.poll)
            .finish_non_exhaustive()
    }
}
