//! Operators at random, in many ways: the time is virtual.

use super::harness::Memory;
use outbox_tests::conformance::dispatcher::{Scene, verbs_at_random::play};

#[test]
fn whatever_operators_do_nothing_is_lost_or_reordered() {
    for seed in 100..140 {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let scene = Scene::<Memory>::new().await;
            play(&scene, seed).await;
        });
    }
}
