use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct V1(u64);

#[derive(Deserialize)]
struct V2(u64);

#[derive(Serialize, Deserialize)]
struct Charge(u64);

struct Unreadable(u64);

struct NoError;

fn second(V1(id): V1) -> V2 {
    V2(id)
}

fn third(V2(id): V2) -> Charge {
    Charge(id)
}

fn unfinished(V2(id): V2) -> V2 {
    V2(id)
}

fn two(V1(id): V1, _: u8) -> V2 {
    V2(id)
}

fn unreadable(Unreadable(id): Unreadable) -> V2 {
    V2(id)
}

fn text(V1(id): V1) -> String {
    id.to_string()
}

fn fallible_text(V1(id): V1) -> Result<String, std::fmt::Error> {
    Ok(id.to_string())
}

fn failing(V1(_): V1) -> Result<V2, NoError> {
    Err(NoError)
}

async fn later(V2(id): V2) -> Charge {
    Charge(id)
}

const NUMBER: u64 = 1;

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
enum Event {
    #[outbox(key_const = "k", version = 3, upcast(1 = nowhere, 2 = third))]
    Unknown(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = Self::nowhere, 2 = third))]
    UnknownMethod(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = NUMBER, 2 = third))]
    NoFunction(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = two, 2 = third))]
    TwoArguments(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = unreadable, 2 = third))]
    Unreadable(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = text, 2 = third))]
    Other(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = fallible_text, 2 = third))]
    OtherResult(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = failing, 2 = third))]
    NoError(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = second, 2 = unfinished))]
    OtherAtTheEnd(Charge),
    #[outbox(key_const = "k", version = 3, upcast(1 = second, 2 = third))]
    NotTheEvent { charge: Charge },
    #[outbox(key_const = "k", version = 3, upcast(1 = second, 2 = later))]
    Asynchronous(Charge),
}

fn main() {}
