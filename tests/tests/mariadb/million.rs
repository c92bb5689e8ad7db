//! The large cases, outside of the usual run.

use super::harness::MariaDb;
use outbox_tests::conformance::{
    Harness,
    dispatcher::{Scene, fairness::Hot},
    million,
};

#[tokio::test]
#[ignore = "it takes a minute"]
async fn a_million_rows_go_beside_emitters() {
    let harness = MariaDb::fresh().await;
    million::a_million_rows_go_beside_emitters(&harness).await;
}

#[tokio::test]
#[ignore = "it takes a minute"]
async fn questions_are_answered_beside_a_million_rows() {
    let harness = MariaDb::fresh().await;
    million::questions_are_answered_beside_a_million_rows(&harness).await;
}

#[tokio::test]
#[ignore = "it takes a minute"]
async fn a_hundred_thousand_events_of_a_blocked_aggregate_hold_up_nobody() {
    let scene = Scene::<MariaDb>::new().await;
    million::a_hundred_thousand_events_of_one_aggregate_hold_up_nobody(&scene, Hot::Blocked).await;
}

#[tokio::test]
#[ignore = "it takes a minute"]
async fn a_hundred_thousand_events_of_a_slow_aggregate_hold_up_nobody() {
    let scene = Scene::<MariaDb>::new().await;
    million::a_hundred_thousand_events_of_one_aggregate_hold_up_nobody(&scene, Hot::Slow).await;
}
