use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event<'a> {
    #[outbox(unordered)]
    Placed { note: &'a str },
    #[outbox(unordered)]
    Closed {
        #[serde(borrow)]
        note: std::borrow::Cow<'a, str>,
    },
}

fn main() {}
