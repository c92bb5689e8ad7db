//! Another writer in the way for longer than SQLite waits.

use crate::site::tea;
use outbox_seaorm::begin_immediate;
use sea_orm::{ConnectOptions, Database, DatabaseConnection};
use shop::{database, error::Error, orders};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::sleep;

async fn impatient(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.map_sqlx_sqlite_opts(|sqlite| sqlite.busy_timeout(Duration::from_millis(10)));
    Database::connect(options).await.unwrap()
}

#[tokio::test]
async fn an_order_is_tried_again_until_the_other_writer_is_done() {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}/shop.db?mode=rwc", folder.path().display());
    let patient = database::open(&url).await.unwrap();
    let db = impatient(&url).await;
    let order = serde_json::from_value(tea()).unwrap();
    let other = begin_immediate(&patient).await.unwrap();
    let busy = orders::place(&db, "acme", "1", &order).await;
    assert!(matches!(busy, Err(Error::Contention(_))), "{busy:?}");

    let done = async {
        sleep(Duration::from_millis(40)).await;
        other.commit().await.unwrap();
    };
    let (placed, ()) = tokio::join!(orders::place(&db, "acme", "1", &order), done);
    placed.unwrap();
}
