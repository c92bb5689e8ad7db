//! What an application declares: event types, their topics and keys.

mod codec;
mod contract;
mod key;
mod topic;
mod upcast;
mod catalogue;

pub use catalogue::{Catalogue, Clash};
pub use codec::DecodeError;
pub(crate) use codec::{decode, decode_version, encode};
pub use contract::{Contract, Shape, TopicSpec};
pub use key::{KeyPart, join as join_key, part as key_part};
pub use topic::{Topic, decode_content, decode_event};
pub use upcast::{Link, Step, from_old};

use serde::{Serialize, de::DeserializeOwned};

/// A domain event that can be emitted and handled; derive it.
///
/// The derive lists the topics of the type and says which fields are the aggregate's key.
/// Everything else (encoding, decoding, checking) happens in ordinary functions of this crate,
/// through the serde implementations that the type has anyway.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an outbox event",
    label = "needs `#[derive(OutboxEvent)]`",
    note = "write `#[derive(Serialize, Deserialize, OutboxEvent)]` and `#[outbox(aggregate = \"…\")]` on the type"
)]
pub trait OutboxEvent: Serialize + DeserializeOwned {
    /// The topics of this type, known without a value.
    const CONTRACT: Contract;

    /// Which of [`Contract::topics`] this value belongs to.
    fn topic_index(&self) -> usize;

    /// The aggregate's key, or `None` for an unordered event that has none.
    fn key(&self) -> Option<String>;

    /// Decodes a payload that was written at an older version of the topic at this index. `None`
    /// where such a payload reads like a current one.
    ///
    /// The derive writes it from `upcast(…)`.
    fn upcast(topic: usize, version: u32, payload: &str) -> Option<Result<Self, DecodeError>> {
        let _ = (topic, version, payload);
        None
    }

    /// The topic of this value.
    fn topic(&self) -> &'static TopicSpec {
        &Self::CONTRACT.topics[self.topic_index()]
    }
}
