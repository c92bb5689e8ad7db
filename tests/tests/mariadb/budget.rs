//! Large events that fall due together, by the memory of this process.

use super::{
    database::Database,
    harness::{MariaDb, Sessions},
};
use outbox_tests::{
    conformance::{Harness, budget},
    servers::PrivateServer,
};

#[tokio::test]
async fn large_events_that_fall_due_together_stay_within_the_budget() {
    let harness = MariaDb::fresh().await;
    budget::large_events_that_fall_due_together_stay_within_the_budget(&harness).await;
}

#[tokio::test]
#[ignore = "2 GB go through the database"]
async fn two_hundred_events_of_ten_megabytes_stay_within_the_budget() {
    let server = PrivateServer::mariadb_with(&["--max-allowed-packet=64M"]);
    let harness = Sessions::<false>(Database::at(server.url()).await);
    budget::two_hundred_events_of_ten_megabytes_stay_within_the_budget(&harness).await;
}
