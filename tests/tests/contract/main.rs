//! What `#[derive(OutboxEvent)]` declares, and how events become payloads and come back.

mod shapes;
mod support;
