use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

fn generic<T: Into<u64>>(id: T) -> Generic {
    Generic(id.into())
}

fn borrowing(text: &str) -> Borrowing {
    Borrowing(text.len() as u64)
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", unordered, version = 2, upcast(1 = generic))]
struct Generic(u64);

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", unordered, version = 2, upcast(1 = borrowing))]
struct Borrowing(u64);

fn main() {}
