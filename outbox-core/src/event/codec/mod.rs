//! An event's payload: the variant's content, the tag being the topic.

mod de;
mod error;
mod ser;

pub use error::DecodeError;

use self::{de::Tagged, ser::Untagged};
use super::{OutboxEvent, Shape};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, IgnoredAny, IntoDeserializer},
    ser::Error as _,
};
use serde_path_to_error::Track;
use std::marker::PhantomData;

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

/// Decodes a payload of the topic at `index` that was written at `version`.
pub(crate) fn decode_version<E: OutboxEvent>(
    index: usize,
    version: u32,
    payload: &str,
) -> Result<E, DecodeError> {
    let spec = &E::CONTRACT.topics[index];
    let event = if version > spec.version {
        Err(DecodeError::newer(spec.version))
    } else if version < spec.oldest {
        Err(DecodeError::too_old(spec.oldest))
    } else if version < spec.version
        && let Some(event) = E::upcast(index, version, payload)
    {
        event.and_then(|event| expect(index, event))
    } else {
        decode(index, payload)
    };
    event.map_err(|error| error.of(version))
}

/// Decodes a payload of the topic at `index`, at its current version.
pub(crate) fn decode<E: OutboxEvent>(index: usize, payload: &str) -> Result<E, DecodeError> {
    let event = parse(Tag(index, PhantomData), payload)?;
    expect(index, event)
}

/// Decodes a payload that has no tag to put back: that of an older version.
pub(super) fn decode_plain<T: DeserializeOwned>(payload: &str) -> Result<T, DecodeError> {
    parse(PhantomData, payload)
}

fn expect<E: OutboxEvent>(index: usize, event: E) -> Result<E, DecodeError> {
    let found = event.topic_index();
    if found == index {
        return Ok(event);
    }
    let name = |index: usize| E::CONTRACT.topics.get(index).map_or("?", |spec| spec.name);
    Err(DecodeError::other_topic(name(index), name(found)))
}

/// An event of the topic at this index.
struct Tag<E>(usize, PhantomData<E>);

impl<E> Clone for Tag<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Tag<E> {}

impl<'de, E: OutboxEvent> DeserializeSeed<'de> for Tag<E> {
    type Value = E;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<E, D::Error> {
        match E::CONTRACT.shape {
            Shape::Struct => E::deserialize(inner),
            Shape::Unit => {
                IgnoredAny::deserialize(inner)?;
                E::deserialize(().into_deserializer())
            }
            Shape::Enum => E::deserialize(Tagged {
                inner,
                index: self.0,
            }),
        }
    }
}

fn parse<'de, S: DeserializeSeed<'de> + Copy>(
    seed: S,
    payload: &'de str,
) -> Result<S::Value, DecodeError> {
    let mut json = serde_json::Deserializer::from_str(payload);
    let value = seed.deserialize(&mut json);
    let whole = value.and_then(|value| json.end().map(|()| value));
    whole.map_err(|error| DecodeError::json(locate(seed, payload), error))
}

/// Where a payload is wrong. Only asked for after a mistake: keeping track takes time.
fn locate<'de, S: DeserializeSeed<'de>>(seed: S, payload: &'de str) -> String {
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_str(payload);
    let inner = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    if seed.deserialize(inner).is_ok() {
        // What stands behind the value is wrong.
        return String::new();
    }
    let path = track.path();
    match path.iter().next() {
        Some(_) => path.to_string(),
        None => String::new(),
    }
}
