use crate::{
    envelope::Envelope,
    event::{self, DecodeError, OutboxEvent},
    operator::EventState,
    store::{Body, Row},
};
use std::time::Duration;

/// An event as it stands in an outbox, whatever has become of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EmittedEvent {
    /// The event, still encoded. Its position is 0 before it is due.
    pub envelope: Envelope,
    /// What has become of it. What waits behind a dead letter is told as pending.
    pub state: EventState,
    /// The delay that it was emitted with, in milliseconds, until it is due.
    pub delay: Option<Duration>,
}

impl EmittedEvent {
    /// An event in this state; a delay is set on it.
    #[must_use]
    pub fn new(row: Row, body: Body, state: EventState) -> Self {
        Self::of(row.into_envelope(body), state)
    }

    pub(in crate::testing) fn of(envelope: Envelope, state: EventState) -> Self {
        Self {
            envelope,
            state,
            delay: None,
        }
    }

    /// The event as this type; `None` where the type does not declare its topic.
    ///
    /// # Errors
    /// When the payload is not what the type serialises to, or its version is none.
    pub fn decode<E: OutboxEvent>(&self) -> Option<Result<E, DecodeError>> {
        let index = E::CONTRACT.find(&self.envelope.topic)?;
        // What cannot be read as a version is told by whoever delivers it.
        let version = self.envelope.schema_version();
        let version = version.unwrap_or(E::CONTRACT.topics[index].version);
        let payload = &self.envelope.payload;
        Some(event::decode_version(index, version, payload))
    }
}
