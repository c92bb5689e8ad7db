use sea_orm::{DatabaseConnection, DbErr};

/// The application's pool does not do: when handlers have taken all its connections, or block its
/// runtime, the lease would be lost, and rarely, and under load.
pub(super) fn pool_of_one(_db: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
    Err(DbErr::Custom(
        "the dispatcher's heartbeat needs a connection of its own: enable the feature `postgres` \
         of the crate outbox-seaorm"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::pool_of_one;
    use sea_orm::DatabaseConnection;

    #[test]
    fn the_feature_is_named() {
        let error = pool_of_one(&DatabaseConnection::default()).unwrap_err();
        assert!(error.to_string().contains("enable the feature `postgres`"));
    }
}
