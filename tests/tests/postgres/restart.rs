//! A server that dies and comes back.

use super::{database::Database, harness::Postgres};
use outbox_tests::{
    conformance::dispatcher::{Scene, restarts},
    servers::PrivateServer,
};
use std::sync::Arc;

#[tokio::test]
async fn a_restarted_server_is_seen_and_loses_and_reorders_nothing() {
    let server = Arc::new(PrivateServer::postgres());
    let database = Database::at(server.url()).await;
    let scene = Scene::over(Postgres::<false>(database));
    let restarted = Arc::clone(&server);
    let restart = move || restarted.restart();
    restarts::a_restarted_server_is_seen_and_loses_and_reorders_nothing(&scene, restart).await;
}
