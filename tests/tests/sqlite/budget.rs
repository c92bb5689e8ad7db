//! Large events that fall due together, by the memory of this process.

use super::harness::Sqlite;
use outbox_tests::conformance::{Harness, budget};

#[tokio::test]
async fn large_events_that_fall_due_together_stay_within_the_budget() {
    let harness = Sqlite::<true>::fresh().await;
    budget::large_events_that_fall_due_together_stay_within_the_budget(&harness).await;
}

#[tokio::test]
#[ignore = "2 GB go through the database"]
async fn two_hundred_events_of_ten_megabytes_stay_within_the_budget() {
    let harness = Sqlite::<true>::fresh().await;
    budget::two_hundred_events_of_ten_megabytes_stay_within_the_budget(&harness).await;
}
