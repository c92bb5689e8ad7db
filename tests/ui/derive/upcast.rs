use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Form {
    #[outbox(unordered, version = 2, upcast)]
    Bare,
    #[outbox(unordered, version = 2, upcast = up)]
    Value,
    #[outbox(unordered, version = 2, upcast(up))]
    NoVersion,
    #[outbox(unordered, version = 2, upcast(1))]
    NoFunction,
    #[outbox(unordered, version = 2, upcast(1 = ))]
    Nothing,
    #[outbox(unordered, version = 2, upcast(1 = "up"))]
    Text,
    #[outbox(unordered, version = 2, upcast(1 = |old| old))]
    Closure,
    #[outbox(unordered, version = 2, upcast(1 = up()))]
    Called,
    #[outbox(unordered, version = 3, upcast(1 = up 2 = up))]
    NoComma,
    #[outbox(unordered, version = 2, upcast(0 = up))]
    Zero,
    #[outbox(unordered, version = 2 upcast(1 = up))]
    NoCommaBefore,
    #[outbox(unordered, version = "2", upcast(1 = up))]
    TextVersion,
    #[outbox(unordered, version = 3, oldest = two, upcast(2 = up))]
    WordVersion,
    #[outbox(unordered, versoin = 2, upcast(1 = up))]
    MisspeltVersion,
    #[outbox(unordered, version = 2, upcsat(1 = up))]
    Misspelt,
    #[outbox(unordered, version = 2, upcast(1 = up), upcast(1 = up))]
    Twice,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Sense {
    #[outbox(unordered, version = 3)]
    Missing,
    #[outbox(unordered, version = 9, upcast(3 = up))]
    MissingMany,
    #[outbox(unordered, upcast(1 = up))]
    NotOlder,
    #[outbox(unordered, version = 2, upcast(1 = up, 2 = up))]
    Current,
    #[outbox(unordered, version = 3, oldest = 2, upcast(1 = up, 2 = up))]
    TooOld,
    #[outbox(unordered, version = 2, upcast(1 = up, 1 = up))]
    VersionTwice,
    #[outbox(unordered, version = 2, oldest = 3)]
    OldestNewer,
}

fn main() {}
