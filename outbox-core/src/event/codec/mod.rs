//! An event's payload: the variant's content, the tag being the topic.

mod de;
mod error;
mod ser;

pub use error::DecodeError;

use self::{de::Tagged, ser::Untagged};
use super::{OutboxEvent, Shape};
use serde::{
    Deserialize,
    de::{IgnoredAny, IntoDeserializer},
    ser::Error as _,
};

/// Encodes an event to its payload.
pub(crate) fn encode<E: OutboxEvent>(event: &E) -> Result<String, serde_json::Error> {
    let mut json = Vec::with_capacity(128);
    let inner = &mut serde_json::Serializer::new(&mut json);
    match E::CONTRACT.shape {
        Shape::Struct => event.serialize(inner)?,
        Shape::Unit => json.extend_from_slice(b"{}"),
        Shape::Enum => event.serialize(Untagged {
            inner,
            index: event.topic_index(),
        })?,
    }
    String::from_utf8(json).map_err(serde_json::Error::custom)
}

/// Decodes the payload of the topic at `index`.
pub(crate) fn decode<E: OutboxEvent>(index: usize, payload: &str) -> Result<E, DecodeError> {
    let event: E = parse(index, payload).map_err(DecodeError::json)?;
    let found = event.topic_index();
    if found == index {
        return Ok(event);
    }
    let name = |index: usize| E::CONTRACT.topics.get(index).map_or("?", |spec| spec.name);
    Err(DecodeError::other_topic(name(index), name(found)))
}

fn parse<E: OutboxEvent>(index: usize, payload: &str) -> Result<E, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(payload);
    let inner = &mut json;
    let event = match E::CONTRACT.shape {
        Shape::Struct => E::deserialize(inner)?,
        Shape::Unit => {
            IgnoredAny::deserialize(inner)?;
            E::deserialize(().into_deserializer())?
        }
        Shape::Enum => E::deserialize(Tagged { inner, index })?,
    };
    json.end()?;
    Ok(event)
}
