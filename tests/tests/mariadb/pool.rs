//! Pools that hardly have a connection.

use super::harness::MariaDb;
use outbox_tests::conformance::dispatcher::{Scene, in_transaction, pool};

#[tokio::test]
async fn transactional_handlers_work_in_the_smallest_pools() {
    let scene = Scene::<MariaDb>::new().await;
    let open = |connections| scene.harness.0.open(connections, "SELECT 1");
    in_transaction::pools_of_any_size_are_enough(&scene, open).await;
}

// B036
#[tokio::test]
async fn plain_handlers_work_in_the_smallest_pools() {
    let scene = Scene::<MariaDb>::new().await;
    let open = |connections| scene.harness.0.open(connections, "SELECT 1");
    pool::pools_of_any_size_are_enough_for_plain_handlers(&scene, open).await;
}
