use sea_orm::{DatabaseConnection, DatabaseConnectionType, DbErr, SqlxPostgresConnector};

/// It connects when it is first used.
pub(super) fn pool_of_one(db: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
    // Asking anything but sqlx's pool for sqlx's pool panics.
    if !matches!(
        db.inner,
        DatabaseConnectionType::SqlxPostgresPoolConnection(_)
    ) {
        return Ok(db.clone());
    }
    let pool = db.get_postgres_connection_pool();
    let options = pool.connect_options();
    let apart = pool
        .options()
        .clone()
        .max_connections(1)
        .min_connections(0)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_lazy_with((*options).clone());
    Ok(SqlxPostgresConnector::from_sqlx_postgres_pool(apart))
}
