//! An event's payload: the variant's content, the tag being the topic.

mod error;

pub use error::DecodeError;

use super::OutboxEvent;

/// Encodes an event to its payload.
pub(crate) fn encode<E: OutboxEvent>(event: &E) -> Result<String, serde_json::Error> {
    serde_json::to_string(event)
}

/// Decodes the payload of the topic at `index`.
pub(crate) fn decode<E: OutboxEvent>(index: usize, payload: &str) -> Result<E, DecodeError> {
    let _ = index;
    serde_json::from_str(payload).map_err(DecodeError::json)
}
