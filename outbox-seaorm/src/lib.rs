//! The transactional outbox for SeaORM.

mod outbox;
pub mod schema;

pub use outbox::{Outbox, OutboxBuilder};
pub use outbox_core::*;
pub use schema::InvalidName;
