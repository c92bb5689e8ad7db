//! What `#[derive(OutboxEvent)]` declares, and how events become payloads and come back.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may fail wherever it finds out"
)]

// What the derive writes names the crate that applications add.
extern crate outbox_core as outbox_seaorm;

mod documents;
mod generics;
mod golden;
mod json_schema;
mod keys;
mod lock;
mod many_variants;
mod numbers;
mod payload_text;
mod registry;
mod serde_attributes;
mod shapes;
mod support;
mod surroundings;
mod topics;
mod versions;
