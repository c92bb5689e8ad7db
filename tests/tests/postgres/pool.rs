//! Pools that hardly have a connection.

use super::{database::Database, harness::Postgres};
use outbox_tests::conformance::dispatcher::{Scene, in_transaction, pool};

#[tokio::test]
async fn transactional_handlers_work_in_the_smallest_pools() {
    let scene = Scene::over(Postgres::<false>(Database::plain().await));
    let open = |connections| scene.harness.0.open_again(connections);
    in_transaction::pools_of_any_size_are_enough(&scene, open).await;
}

// B036
#[tokio::test]
async fn plain_handlers_work_in_the_smallest_pools() {
    let scene = Scene::over(Postgres::<false>(Database::plain().await));
    let open = |connections| scene.harness.0.open_again(connections);
    pool::pools_of_any_size_are_enough_for_plain_handlers(&scene, open).await;
}
