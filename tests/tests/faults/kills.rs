//! Dispatchers that are killed.

use super::site::{Site, pause};

#[tokio::test]
async fn a_standby_goes_on_where_a_killed_dispatcher_was() {
    let site = Site::new().await;
    let emitter = site.start("emit", "emitter");
    let mut owner = site.start("deliver", "d0");
    site.delivers(&owner).await;
    for round in 1..=6 {
        let standby = site.start("deliver", &format!("d{round}"));
        pause(round, 50..700).await;
        assert_eq!(site.starts(&standby.name), 0, "it stands by");
        owner.kill();
        site.delivers(&standby).await;
        owner = standby;
    }
    emitter.stop();
    site.drained().await;
    owner.stop();
    let report = site.check().await;
    assert!(report.events > 100, "{report:?}");
}
