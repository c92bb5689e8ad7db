//! Emitters that are killed in the middle of a transaction.

use super::site::{Site, pause};

#[tokio::test]
async fn what_a_killed_emitter_had_not_committed_never_was() {
    let site = Site::new().await;
    let dispatcher = site.start("deliver", "d0");
    for round in 0..10 {
        let emitter = site.start("emit", &format!("e{round}"));
        pause(round, 100..500).await;
        emitter.kill();
    }
    site.drained().await;
    dispatcher.stop();
    let report = site.check().await;
    assert!(report.events > 50, "{report:?}");
    assert_eq!(report.duplicates, 0, "nothing befell the dispatcher");
}
