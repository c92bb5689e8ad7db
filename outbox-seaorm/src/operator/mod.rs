//! What people need of an outbox: dead letters, paused topics, delayed events, and who decided
//! what about them.
//!
#![doc = include_str!("../../docs/operating.md")]

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
mod counts;
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
