#[cfg(not(feature = "postgres"))]
mod disabled;
#[cfg(feature = "postgres")]
mod enabled;

#[cfg(not(feature = "postgres"))]
use disabled as feature;
#[cfg(feature = "postgres")]
use enabled as feature;

use super::Postgres;
use sea_orm::{DatabaseConnection, DbErr};

impl Postgres {
    /// Whether a dispatcher can run: an error that says what is missing, before anything is done.
    pub(in crate::store) async fn ready(&self, db: &DatabaseConnection) -> Result<(), DbErr> {
        feature::pool_of_one(db).map(drop)
    }

    /// A pool of one connection, with the options of the application's pool and what that does to
    /// each new connection.
    pub(in crate::store) async fn connect_apart(
        &self,
        db: &DatabaseConnection,
    ) -> Result<DatabaseConnection, DbErr> {
        feature::pool_of_one(db)
    }
}
