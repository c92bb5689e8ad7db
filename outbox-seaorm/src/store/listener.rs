#[allow(unused_imports, reason = "in use where SeaORM lacks a driver")]
use super::apart::NoDriver;
use super::apart::{POSTGRES, is_pool};
use sea_orm::{DatabaseConnection, DbErr, RuntimeErr, sqlx::Error};
use std::future::Future;
use tokio::sync::mpsc;

/// Listens to a channel of PostgreSQL on the only connection of this pool. What is returned passes
/// on the payload of each notification, until the connection is lost or nobody wants them.
pub(super) async fn listen(
    own: &DatabaseConnection,
    channel: &str,
    payloads: mpsc::Sender<String>,
) -> Result<impl Future<Output = Result<(), DbErr>> + Send, DbErr> {
    // A name that a glob brings into a block comes before the same name outside of it: where
    // SeaORM has the driver, this is sqlx's listener.
    #[allow(
        unused_imports,
        reason = "has the listener where SeaORM has the driver"
    )]
    use sea_orm::sqlx::*;

    if !is_pool(own, POSTGRES) {
        return Err(failed(Error::PoolClosed));
    }
    let pool = own.get_postgres_connection_pool();
    let mut listener = postgres::PgListener::connect_with(pool)
        .await
        .map_err(failed)?;
    // Whoever reconnects has to look for what was missed meanwhile.
    listener.eager_reconnect(false);
    listener.listen(channel).await.map_err(failed)?;
    Ok(async move {
        while let Some(notification) = listener.try_recv().await.map_err(failed)? {
            let payload = notification.payload().to_owned();
            if payloads.send(payload).await.is_err() {
                break;
            }
        }
        Ok(())
    })
}

fn failed(error: Error) -> DbErr {
    DbErr::Conn(RuntimeErr::SqlxError(error.into()))
}

/// Stands in for sqlx's where SeaORM has no driver for PostgreSQL, and nobody a connection to it.
#[allow(dead_code, reason = "in use where SeaORM lacks a driver")]
mod postgres {
    use super::Error;

    pub(super) enum PgListener {}

    pub(super) enum PgNotification {}

    impl PgListener {
        pub(super) async fn connect_with<P>(_: &P) -> Result<Self, Error> {
            Err(Error::PoolClosed)
        }

        pub(super) fn eager_reconnect(&mut self, _: bool) {
            match *self {}
        }

        pub(super) async fn listen(&mut self, _: &str) -> Result<(), Error> {
            match *self {}
        }

        pub(super) async fn try_recv(&mut self) -> Result<Option<PgNotification>, Error> {
            match *self {}
        }
    }

    impl PgNotification {
        pub(super) fn payload(&self) -> &str {
            match *self {}
        }
    }
}
