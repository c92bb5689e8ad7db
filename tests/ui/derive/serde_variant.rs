use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(unordered)]
    #[serde(skip)]
    Skipped,
    #[outbox(unordered)]
    #[serde(skip_serializing)]
    Unwritten,
    #[outbox(unordered)]
    #[serde(rename = "x", skip_deserializing)]
    Unread,
    #[outbox(unordered)]
    #[serde(other)]
    Other,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Untagged {
    #[outbox(unordered)]
    #[serde(untagged)]
    Placed(String),
}

fn main() {}
