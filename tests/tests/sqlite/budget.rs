//! Large events that fall due together, by the memory of this process.

use super::harness::Sqlite;
use outbox_tests::conformance::{Harness, budget};
use std::time::Duration;

#[tokio::test]
async fn large_events_that_fall_due_together_stay_within_the_budget() {
    let harness = Sqlite::<true>::fresh().await;
    let due_in = Duration::from_secs(3);
    let growth = budget::growth(&harness, 1_000_000, 8 * 1024 * 1024, due_in).await;
    assert!(growth < 64, "{growth} MiB");
}

#[tokio::test]
#[ignore = "2 GB go through the database"]
async fn two_hundred_events_of_ten_megabytes_stay_within_the_budget() {
    let harness = Sqlite::<true>::fresh().await;
    let due_in = Duration::from_secs(60);
    let growth = budget::growth(&harness, 10_000_000, 64 * 1024 * 1024, due_in).await;
    assert!(growth < 200, "{growth} MiB");
}
