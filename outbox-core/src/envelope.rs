use crate::{headers::Headers, store::Position};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use uuid::Uuid;

/// A committed event as it was read from the outbox, still encoded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Envelope {
    /// The event's id: the same for every delivery of it.
    pub id: Uuid,
    /// The event's place in the outbox.
    pub position: Position,
    /// The kind of aggregate.
    pub aggregate: String,
    /// The aggregate's key; an unordered event may have none.
    pub key: Option<String>,
    /// The topic's name.
    pub topic: String,
    /// The payload: JSON text, as it was emitted.
    pub payload: String,
    /// The headers: the text of a JSON object, as it was emitted.
    pub headers: String,
    /// When the thing happened.
    pub occurred_at: DateTime<Utc>,
    /// Whether the event keeps its place among those of its aggregate.
    pub ordered: bool,
    /// How many deliveries of this event have failed.
    pub attempts: u32,
}

impl Envelope {
    /// What a broker partitions by, so that the events of one aggregate stay in order: the key,
    /// or the event's id where there is none.
    #[must_use]
    pub fn partition_key(&self) -> String {
        match &self.key {
            Some(key) => key.clone(),
            None => self.id.to_string(),
        }
    }

    /// The headers, parsed.
    ///
    /// # Errors
    /// When a foreign writer stored something else than an object of strings and numbers.
    pub fn parse_headers(&self) -> Result<Headers, serde_json::Error> {
        serde_json::from_str(&self.headers)
    }

    /// The schema version of the payload; 1 where the headers name none.
    ///
    /// # Errors
    /// When the headers are not a JSON object or the version is not a positive number.
    pub fn schema_version(&self) -> Result<u32, serde_json::Error> {
        #[derive(Deserialize)]
        struct Version {
            #[serde(default = "first")]
            schema_version: u32,
        }
        const fn first() -> u32 {
            1
        }
        serde_json::from_str::<Version>(&self.headers).map(|version| version.schema_version)
    }
}
