//! The transactional outbox for SeaORM.

mod outbox;
pub mod schema;
mod wake;
pub mod store;

pub use outbox::{Outbox, OutboxBuilder};
pub use outbox_core::*;

/// What the code written by the derive calls. Not for use by hand.
#[doc(hidden)]
pub use outbox_core::__private;
pub use schema::InvalidName;
pub use store::SeaOrmStore;
