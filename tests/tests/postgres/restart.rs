//! A server that dies and comes back, or is heard of no more, and one that is restored elsewhere.

use super::{
    database::{self, Database},
    harness::Postgres,
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
async fn scene() -> (Scene<Postgres<false>>, Arc<PrivateServer>) {
    let server = PrivateServer::postgres();
    let harness: Postgres<false> = Postgres(Database::at(server.url()).await);
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
    let (server, other) = (PrivateServer::postgres(), PrivateServer::postgres());
    let scene = Scene::over(Postgres::<false>(Database::at(server.url()).await));
    let restored = async {
        server.copy_to(&other);
        Postgres(Database::at(other.url()).await)
    };
    restores::what_is_restored_elsewhere_goes_on_in_its_order(&scene, restored).await;
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
    let database = Database::plain().await;
    let proxy = Proxy::start(database::port(), b"").await;
    let through = database.open_through(proxy.port, "", 16).await;
    let through = SeaOrmStore::new(&through, &database.outbox);
    let scene = Scene::over(Postgres::<false>(database));
    restarts::connections_that_fall_silent_are_replaced(&scene, through, || proxy.silence()).await;
}

#[tokio::test]
async fn a_stop_waits_for_no_connection_that_is_silent() {
    let database = Database::plain().await;
    let proxy = Proxy::start(database::port(), b"").await;
    let through = database.open_through(proxy.port, "", 16).await;
    let through = SeaOrmStore::new(&through, &database.outbox);
    let scene = Scene::over(Postgres::<false>(database));
    stop::a_stop_waits_for_no_connection_that_is_silent(&scene, through, || proxy.silence()).await;
}

const READ_ONLY: &str = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";

// B119
#[tokio::test]
async fn a_pool_that_can_only_be_read_is_replaced() {
    let scene = Scene::over(Postgres::<false>(Database::plain().await));
    for connections in [1, 4] {
        let db = scene.harness.0.open_again(connections).await;
        let store = SeaOrmStore::new(&db, &scene.harness.0.outbox);
        let spoil = || restarts::in_all_sessions(&db, connections as usize, READ_ONLY);
        restarts::sessions_that_can_only_be_read_are_replaced(&scene, store, spoil).await;
    }
}

/// That of the heartbeat is one of them.
#[tokio::test]
async fn sessions_that_can_only_be_read_are_replaced() {
    let scene = Scene::over(Postgres::<false>(Database::plain().await));
    for connections in [1, 4] {
        let db = scene.harness.0.open_again(connections).await;
        let pool = db.get_postgres_connection_pool();
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
        let store = SeaOrmStore::new(&db, &scene.harness.0.outbox);
        let spoil = || async { *spoilt.lock().unwrap() = Some(Instant::now()) };
        restarts::sessions_that_can_only_be_read_are_replaced(&scene, store, spoil).await;
    }
}
