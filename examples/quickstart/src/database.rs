//! Opens the database and makes the tables.

use crate::model::{charge, mail, order, parcel};
use outbox_seaorm::schema;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbErr, EntityTrait, Schema,
    sqlx::sqlite::SqliteJournalMode,
};
use std::num::NonZeroU32;

pub(crate) async fn open(url: &str, connections: NonZeroU32) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(connections.get())
        .sqlx_logging(false)
        // Readers and the one writer do not wait for each other.
        .map_sqlx_sqlite_opts(|sqlite| sqlite.journal_mode(SqliteJournalMode::Wal));
    let db = Database::connect(options).await?;
    create_table(&db, order::Entity).await?;
    create_table(&db, charge::Entity).await?;
    create_table(&db, mail::Entity).await?;
    create_table(&db, parcel::Entity).await?;
    // An application with migrations appends those of `outbox-migrations` instead.
    schema::create(&db).await?;
    Ok(db)
}

async fn create_table(db: &DatabaseConnection, entity: impl EntityTrait) -> Result<(), DbErr> {
    let mut table = Schema::new(db.get_database_backend()).create_table_from_entity(entity);
    db.execute(table.if_not_exists()).await?;
    Ok(())
}
