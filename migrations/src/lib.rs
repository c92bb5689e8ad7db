//! The outbox tables as SeaORM migrations, to append to your application's own `Migrator`.
//!
//! ```
//! use outbox_migrations::migrations;
//! use sea_orm_migration::{MigrationTrait, MigratorTrait};
//!
//! struct Migrator;
//!
//! impl MigratorTrait for Migrator {
//!     fn migrations() -> Vec<Box<dyn MigrationTrait>> {
//!         let mut all: Vec<Box<dyn MigrationTrait>> = vec![/* your own */];
//!         all.extend(migrations());
//!         all
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let db = sea_orm::Database::connect("sqlite::memory:").await?;
//! Migrator::up(&db, None).await?;
//! outbox_seaorm::schema::check(&db).await?;
//! # Ok(())
//! # }
//! ```
//!
//! There is one bookkeeping table, yours: a second migrator on the same one refuses to start, as it
//! does not know the other's migrations. One that runs these alone needs another table, which its
//! `migration_table_name` says. New versions of this crate only append migrations, so that yours may
//! stand before or after these in the list.
//!
//! When several instances migrate an empty database at once, SeaORM's bookkeeping lets one of them
//! win and the others fail with a unique violation or a lock: run `up` again there.

mod initial;
mod list;

pub use list::{migrations, migrations_for};
