use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[serde(tag = "type")]
#[outbox(aggregate = "order")]
enum Internally {
    #[outbox(unordered)]
    Placed {},
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[outbox(aggregate = "order")]
enum Adjacently {
    #[outbox(unordered)]
    Placed,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[serde(untagged)]
#[outbox(aggregate = "order")]
enum Untagged {
    #[outbox(unordered)]
    Placed,
}

#[derive(Serialize, Deserialize)]
enum Wire {
    Placed,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[serde(from = "Wire", into = "Wire")]
#[outbox(aggregate = "order")]
#[derive(Clone)]
enum Converted {
    #[outbox(unordered)]
    Placed,
}

impl From<Wire> for Converted {
    fn from(_: Wire) -> Self {
        Self::Placed
    }
}

impl From<Converted> for Wire {
    fn from(_: Converted) -> Self {
        Self::Placed
    }
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[serde(try_from = "u8")]
#[outbox(aggregate = "order")]
enum Tried {
    #[outbox(unordered)]
    Placed,
}

impl TryFrom<u8> for Tried {
    type Error = String;

    fn try_from(_: u8) -> Result<Self, String> {
        Ok(Self::Placed)
    }
}

fn main() {}
