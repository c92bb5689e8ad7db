//! The tables as SeaORM entities, for queries of your own.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use outbox_seaorm::{entity::event, schema};
//! use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
//!
//! # let db = sea_orm::Database::connect("sqlite::memory:").await?;
//! # schema::create(&db).await?;
//! let waiting = event::Entity::find()
//!     .filter(event::Column::Topic.eq("order.placed"))
//!     .all(&db)
//!     .await?;
//! # assert!(waiting.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! They have the default names. For an outbox with a prefix or schema, [`Outbox::find`] starts a
//! query.
//!
//! They are for reading: events are written by `emit` and removed by the dispatcher and by
//! operators. A payload is read as [`Json`](sea_orm::JsonValue) here, which turns integers beyond
//! `u64` and long decimals into floats; what handlers get does not pass through it.

pub mod event;
pub mod delayed;
pub mod dead;
pub mod delivered;
pub mod status;
pub mod topic;
pub mod operation;
pub mod dedupe;
pub mod inbox;

use crate::outbox::Outbox;
use sea_orm::{EntityTrait, QueryTrait, Select, sea_query::Alias};

impl Outbox {
    /// Starts a query of one of the [entities](crate::entity) in this outbox's tables.
    ///
    /// ```
    /// use outbox_seaorm::{Outbox, entity::status};
    /// # use sea_orm::{DbBackend, QueryTrait};
    ///
    /// let billing = Outbox::builder().prefix("billing_").build()?;
    /// let query = billing.find::<status::Entity>();
    /// # assert!(query.build(DbBackend::Sqlite).sql.contains("\"billing_outbox_status\""));
    /// # Ok::<(), outbox_seaorm::InvalidName>(())
    /// ```
    #[must_use]
    pub fn find<E: EntityTrait>(&self) -> Select<E> {
        let mut select = E::find();
        let name = E::default().table_name().to_owned();
        // Columns are qualified with the entity's table name, which therefore stays as an alias.
        let from = self.names().table(&name).alias(Alias::new(&name));
        let query = QueryTrait::query(&mut select);
        query.from_clear().from(from);
        select
    }
}
