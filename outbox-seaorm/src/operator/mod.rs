//! What people need of an outbox: dead letters, paused topics, delayed events, and who decided
//! what about them.
//!
//! ```
//! use outbox_seaorm::{Operator, operator::{Bulk, EventFilter, LetterFilter}, schema};
//! # use sea_orm::Database;
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
//! let db = Database::connect("sqlite::memory:").await?;
//! schema::create(&db).await?;
//!
//! let operator = Operator::new(&db, "alice"); // `outbox.operator(&db, "alice")` for other settings
//! let placed = EventFilter::all().topic("order.placed");
//! let timeouts = LetterFilter::of(placed).error("timeout");
//! println!("{} letters", operator.count_letters(&timeouts).await?);
//! let bulk = Bulk::new(10_000).per_second(50);
//! let done = operator.retry_all(&timeouts, bulk, "the warehouse is back").await?;
//! # assert_eq!(done.done, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod text;
mod transaction;
mod row;
mod page;
mod letters;
mod act;
mod topics;
mod delayed;
mod history;
mod replay;
mod questions;
mod store;
#[cfg(test)]
mod plans;

pub use outbox_core::operator::*;

use crate::{Outbox, SeaOrmStore};
use sea_orm::DatabaseConnection;
use std::sync::Arc;

/// Decides about the events of an outbox in a SeaORM database, and answers questions.
///
/// `Operator::new(&db, "alice")` is for the default [`Outbox`]; [`Outbox::operator`] for another.
/// See the [module](crate::operator) for an example.
pub type Operator = outbox_core::Operator<SeaOrmStore>;

impl Outbox {
    /// An operator of this name for this outbox.
    pub fn operator(&self, db: &DatabaseConnection, who: impl Into<Arc<str>>) -> Operator {
        Operator::new(SeaOrmStore::new(db, self), who)
    }
}
