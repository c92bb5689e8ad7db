use super::{Contract, DecodeError, OutboxEvent, TopicSpec, decode_version};
use std::fmt;

/// A typed topic: registering a handler for it needs no string and checks the handler's type.
///
/// The derive makes one a topic: `OrderEvent::CHARGE` is a `Topic<Charge>` where the variant is a
/// newtype, and a `Topic<OrderEvent>` where it has another shape.
pub struct Topic<T> {
    contract: Contract,
    index: usize,
    decode: fn(u32, &str) -> Result<T, DecodeError>,
}

impl<T> Topic<T> {
    /// The topic at `index` of `E`'s contract, unwrapped by `decode`; the derive writes this call.
    #[must_use]
    pub const fn new<E: OutboxEvent>(
        index: usize,
        decode: fn(u32, &str) -> Result<T, DecodeError>,
    ) -> Self {
        Self {
            contract: E::CONTRACT,
            index,
            decode,
        }
    }

    /// The topic's description.
    #[must_use]
    pub const fn spec(&self) -> &'static TopicSpec {
        &self.contract.topics[self.index]
    }

    /// The topic's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.spec().name
    }

    /// The contract of the type that declares this topic.
    #[must_use]
    pub const fn contract(&self) -> &Contract {
        &self.contract
    }

    /// Decodes a payload of this topic's current version.
    ///
    /// # Errors
    /// When the text is not what the type serialises to.
    pub fn decode(&self, payload: &str) -> Result<T, DecodeError> {
        self.decode_version(self.spec().version, payload)
    }

    /// Decodes a payload that was written at this schema version, the current one or an older one.
    ///
    /// # Errors
    /// When the version cannot be read here, its payload is not what it should be, or the function
    /// that brings it up to date has failed.
    pub fn decode_version(&self, version: u32, payload: &str) -> Result<T, DecodeError> {
        (self.decode)(version, payload)
    }
}

/// Decodes the payload of the topic at `index` of `E`; the derive's topic constants call this.
///
/// # Errors
/// When the text is not what the type serialises to.
pub fn decode_event<E: OutboxEvent>(
    index: usize,
    version: u32,
    payload: &str,
) -> Result<E, DecodeError> {
    decode_version(index, version, payload)
}

/// Decodes the payload of the topic at `index` of `E` and takes the content out of its newtype
/// variant; the derive's topic constants call this.
///
/// # Errors
/// When the text is not what the type serialises to.
pub fn decode_content<E: OutboxEvent, T>(
    index: usize,
    version: u32,
    payload: &str,
    content: fn(E) -> Option<T>,
) -> Result<T, DecodeError> {
    let event = decode_version::<E>(index, version, payload)?;
    let found = event.topic().name;
    content(event).ok_or_else(|| DecodeError::other_topic(E::CONTRACT.topics[index].name, found))
}

impl<T> Clone for Topic<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Topic<T> {}

impl<T> fmt::Debug for Topic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Topic").field(&self.name()).finish()
    }
}
