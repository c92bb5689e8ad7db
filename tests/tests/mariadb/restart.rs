//! A server that dies and comes back.

use super::{
    database::Database,
    harness::{MariaDb, Sessions},
};
use outbox_tests::{
    conformance::dispatcher::{Scene, restarts},
    servers::PrivateServer,
};
use std::sync::Arc;

#[tokio::test]
async fn a_restarted_server_is_seen_and_loses_and_reorders_nothing() {
    let server = Arc::new(PrivateServer::mariadb());
    let harness: MariaDb = Sessions(Database::at(server.url()).await);
    let scene = Scene::over(harness);
    let restarted = Arc::clone(&server);
    let restart = move || restarted.restart();
    restarts::a_restarted_server_is_seen_and_loses_and_reorders_nothing(&scene, restart).await;
}
