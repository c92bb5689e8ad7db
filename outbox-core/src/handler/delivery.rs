use crate::{
    emit::Context,
    envelope::Envelope,
    headers::Headers,
    store::{Epoch, Position},
};
use chrono::{DateTime, Utc};
use std::{
    any::{Any, type_name},
    error, fmt,
    sync::Arc,
};
use uuid::Uuid;

/// What the dispatcher knows of an event beside its content. Cheap to clone.
#[derive(Clone)]
pub struct Delivery {
    about: Arc<About>,
    state: State,
}

/// The application's state, as given to `with_state`.
pub(crate) type State = Option<Arc<dyn Any + Send + Sync>>;

#[derive(Debug)]
struct About {
    id: Uuid,
    position: Position,
    epoch: Epoch,
    aggregate: String,
    key: Option<String>,
    topic: String,
    headers: Arc<Headers>,
    occurred_at: DateTime<Utc>,
    ordered: bool,
    attempt: u32,
}

impl Delivery {
    /// The delivery of an envelope, and the payload that belongs to it.
    pub(crate) fn new(
        envelope: Envelope,
        headers: Headers,
        epoch: Epoch,
        state: State,
    ) -> (Self, String) {
        let about = About {
            id: envelope.id,
            position: envelope.position,
            epoch,
            aggregate: envelope.aggregate,
            key: envelope.key,
            topic: envelope.topic,
            headers: Arc::new(headers),
            occurred_at: envelope.occurred_at,
            ordered: envelope.ordered,
            attempt: envelope.attempts.saturating_add(1),
        };
        (
            Self {
                about: Arc::new(about),
                state,
            },
            envelope.payload,
        )
    }

    /// The event's id: the same for every delivery of it.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.about.id
    }

    /// The event's id as text, for services that take an idempotency key.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        self.about.id.to_string()
    }

    /// The event's place in the outbox; grows along the events of an aggregate.
    #[must_use]
    pub fn position(&self) -> Position {
        self.about.position
    }

    /// Counts the owners of the event's shard. With the position it is a fencing token: whoever
    /// stores the greatest `(epoch, position)` of an aggregate can refuse a dispatcher that was
    /// frozen and does not yet know that it lost its lease.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.about.epoch
    }

    /// The kind of aggregate.
    #[must_use]
    pub fn aggregate(&self) -> &str {
        &self.about.aggregate
    }

    /// The aggregate's key; an unordered event may have none.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.about.key.as_deref()
    }

    /// The topic's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.about.topic
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.about.headers
    }

    /// The context of what this event causes: what is emitted in its [scope](Context::scope)
    /// carries on the event's trace, tenant and correlation, and names it as its cause. A handler of
    /// single events is in it already.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::caused_by(self.about.id, Arc::clone(&self.about.headers))
    }

    /// When the thing happened, as the emitter says.
    #[must_use]
    pub fn occurred_at(&self) -> DateTime<Utc> {
        self.about.occurred_at
    }

    /// Whether the event keeps its place among those of its aggregate.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.about.ordered
    }

    /// Which attempt this is, from 1; deliveries that ended with their process do not count.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.about.attempt
    }

    /// The application's state, as it was given to the dispatcher's `with_state`.
    ///
    /// # Errors
    /// When the dispatcher was built without a state of this type. Through `?` it means *retry* as any
    /// error does, and nothing says so before the first event comes: write `with_state` before the
    /// handlers that ask for it.
    pub fn state<S: Any + Send + Sync>(&self) -> Result<&S, MissingState> {
        self.state
            .as_deref()
            .and_then(|state| state.downcast_ref())
            .ok_or(MissingState(type_name::<S>()))
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about.fmt(f)
    }
}

/// The dispatcher has no state of the type that a handler asked for.
#[derive(Debug)]
pub struct MissingState(&'static str);

impl fmt::Display for MissingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the dispatcher has no state of type {}: pass it to `with_state`",
            self.0
        )
    }
}

impl error::Error for MissingState {}
