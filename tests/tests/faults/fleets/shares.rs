use crate::site::Site;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// What a fleet owns is even with one, two and three dispatchers, and complete as soon as one of
/// them has stopped.
pub(crate) async fn stay_even(site: Site) {
    let emitter = site.start("emit", "emitter");
    let mut fleet = Vec::new();
    for name in ["d0", "d1", "d2"] {
        fleet.push(site.start("deliver", name));
        evenly(&site, fleet.len()).await;
        remain(&site, fleet.len()).await;
    }
    for process in &fleet {
        site.delivers(process).await;
    }
    while fleet.len() > 1 {
        fleet.remove(0).stop();
        let stopped = Instant::now();
        evenly(&site, fleet.len()).await;
        let took = stopped.elapsed();
        // One that was killed would keep its shards for as long at least.
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
    emitter.stop();
    site.drained().await;
    for process in fleet {
        process.stop();
    }
    let owned = "SELECT count(owner) AS n FROM outbox_shard";
    let owned: i64 = site.query(owned).await[0].try_get("", "n").unwrap();
    assert_eq!(owned, 0, "whoever stops leaves nothing behind");
    assert_eq!(
        site.check().await.duplicates,
        0,
        "nothing befell a dispatcher"
    );
}

/// For longer than a lease, with looks of everybody, nothing changes hands while nobody comes or
/// goes: on a machine that is too busy a lease may be lost.
async fn remain(site: &Site, live: usize) {
    let steady = || async {
        let members = members(site).await;
        evenly(site, live).await;
        let epochs = epochs(site).await;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let after = self::epochs(site).await;
        if members != self::members(site).await {
            return false;
        }
        assert_eq!(epochs, after, "handed back and forth");
        true
    };
    site.until("nobody comes or goes", steady).await;
}

async fn members(site: &Site) -> Vec<Uuid> {
    let rows = site
        .query("SELECT id FROM outbox_dispatcher ORDER BY id")
        .await;
    rows.iter()
        .map(|row| row.try_get("", "id").unwrap())
        .collect()
}

/// Of each shard how often it has changed hands.
async fn epochs(site: &Site) -> Vec<i64> {
    let rows = site
        .query("SELECT epoch FROM outbox_shard ORDER BY shard")
        .await;
    rows.iter()
        .map(|row| row.try_get("", "epoch").unwrap())
        .collect()
}

async fn evenly(site: &Site, live: usize) {
    let even = || async { is_even(&shares(site).await, live) };
    site.until(&format!("shared by {live}"), even).await;
}

/// How many shards each living owner has.
async fn shares(site: &Site) -> Vec<i64> {
    let sql = "SELECT count(*) AS n FROM outbox_shard AS s \
        JOIN outbox_dispatcher AS d ON d.id = s.owner GROUP BY s.owner";
    let rows = site.query(sql).await;
    rows.iter()
        .map(|row| row.try_get("", "n").unwrap())
        .collect()
}

fn is_even(shares: &[i64], live: usize) -> bool {
    let (least, most) = (shares.iter().min(), shares.iter().max());
    let apart = most.unwrap_or(&0) - least.unwrap_or(&0);
    shares.len() == live && shares.iter().sum::<i64>() == 64 && apart <= 1
}
