//! A server that dies and comes back, or is heard of no more, and one that is restored elsewhere.

use super::{
    database::Database,
    harness::{MariaDb, Sessions},
};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::{
    Proxy,
    conformance::dispatcher::{Scene, in_transaction, restarts, restores, stop},
    servers::PrivateServer,
};
use sea_orm::{DatabaseConnection, sqlx::Executor};
use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

/// An outbox on a server of its own.
async fn scene() -> (Scene<MariaDb>, Arc<PrivateServer>) {
    let server = PrivateServer::mariadb();
    let harness: MariaDb = Sessions(Database::at(server.url()).await);
    (Scene::over(harness), Arc::new(server))
}

#[tokio::test]
async fn a_restarted_server_is_seen_and_loses_and_reorders_nothing() {
    let (scene, server) = scene().await;
    let restarted = Arc::clone(&server);
    let restart = move || restarted.restart();
    restarts::a_restarted_server_is_seen_and_loses_and_reorders_nothing(&scene, restart).await;
}

#[tokio::test]
async fn what_is_restored_elsewhere_goes_on_in_its_order() {
    let (server, other) = (PrivateServer::mariadb(), PrivateServer::mariadb());
    let database = Database::at(server.url()).await;
    let (_, name) = database.url.rsplit_once('/').unwrap();
    let (place, _) = other.url().rsplit_once('/').unwrap();
    let url = format!("{place}/{name}");
    let harness: MariaDb = Sessions(database);
    let restored = async {
        server.copy_to(&other);
        Sessions(Database::there(url).await)
    };
    restores::what_is_restored_elsewhere_goes_on_in_its_order(&Scene::over(harness), restored)
        .await;
}

#[tokio::test]
async fn what_is_done_when_the_server_dies_is_done_once() {
    let (scene, server) = scene().await;
    let restarted = Arc::clone(&server);
    let restart = move || restarted.restart();
    in_transaction::what_is_done_when_the_server_dies_is_done_once(&scene, restart).await;
}

#[tokio::test]
async fn connections_that_fall_silent_are_replaced() {
    let database = Database::fresh().await;
    let proxy = Proxy::start(database.port(), b"").await;
    let through = SeaOrmStore::from(&database.open_through(proxy.port, 16).await);
    let harness: MariaDb = Sessions(database);
    let scene = Scene::over(harness);
    restarts::connections_that_fall_silent_are_replaced(&scene, through, || proxy.silence()).await;
}

#[tokio::test]
async fn a_stop_waits_for_no_connection_that_is_silent() {
    let database = Database::fresh().await;
    let proxy = Proxy::start(database.port(), b"").await;
    let through = SeaOrmStore::from(&database.open_through(proxy.port, 16).await);
    let harness: MariaDb = Sessions(database);
    let scene = Scene::over(harness);
    stop::a_stop_waits_for_no_connection_that_is_silent(&scene, through, || proxy.silence()).await;
}

const READ_ONLY: &str = "SET SESSION TRANSACTION READ ONLY";

// B119
#[tokio::test]
async fn a_pool_that_can_only_be_read_is_replaced() {
    let scene = Scene::<MariaDb>::new().await;
    for connections in [1, 4] {
        let db = scene.harness.0.open(connections, "SELECT 1").await;
        let store = SeaOrmStore::from(&db);
        let spoil = || restarts::in_all_sessions(&db, connections as usize, READ_ONLY);
        restarts::sessions_that_can_only_be_read_are_replaced(&scene, store, spoil).await;
    }
}

/// That of the heartbeat is one of them.
#[tokio::test]
async fn sessions_that_can_only_be_read_are_replaced() {
    let scene = Scene::<MariaDb>::new().await;
    for connections in [1, 4] {
        let db = scene.harness.0.open(connections, "SELECT 1").await;
        let pool = db.get_mysql_connection_pool();
        let spoilt = Arc::new(Mutex::new(None::<Instant>));
        let since = Arc::clone(&spoilt);
        let options = pool.options().clone().before_acquire(move |session, meta| {
            let since = since.lock().unwrap().map(|at| at.elapsed());
            Box::pin(async move {
                if since.is_some_and(|since| meta.age > since) {
                    session.execute(READ_ONLY).await?;
                }
                Ok(true)
            })
        });
        let connect = (*pool.connect_options()).clone();
        let db: DatabaseConnection = options.connect_with(connect).await.unwrap().into();
        let store = SeaOrmStore::from(&db);
        let spoil = || async { *spoilt.lock().unwrap() = Some(Instant::now()) };
        restarts::sessions_that_can_only_be_read_are_replaced(&scene, store, spoil).await;
    }
}
