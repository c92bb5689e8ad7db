//! Dispatchers that are killed.

use super::{
    server::Server,
    site::{Site, pause},
};
use outbox_tests::worker::Conduct;
use std::time::{Duration, Instant};

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

/// Until whatever a killed dispatcher owned is another's. How long that takes at most is told, and the
/// best of three must be within twice the lease: the others may have met a busy machine.
async fn is_replaced_within_twice_the_lease(server: Server) {
    let site = Site::on(server).await;
    let conduct = Conduct {
        lease_ms: 4_000,
        ..Conduct::default()
    };
    let lease = Duration::from_millis(conduct.lease_ms);
    let emitter = site.start("emit", "emitter");
    let mut owner = site.start_with("deliver", "d0", &conduct);
    site.delivers(&owner).await;
    let mut times = Vec::new();
    for round in 1..=3 {
        let standby = site.start_with("deliver", &format!("d{round}"), &conduct);
        let joined = || async { site.count("outbox_dispatcher").await == 2 };
        site.until("two members", joined).await;
        pause(round, 0..1_000).await;
        owner.kill();
        let killed = Instant::now();
        let sql = "SELECT count(*) AS n FROM outbox_shard WHERE owner IS NULL OR owner NOT IN \
            (SELECT id FROM outbox_dispatcher)";
        let all_owned = || async {
            let members = site.count("outbox_dispatcher").await;
            let orphans: i64 = site.query(sql).await[0].try_get("", "n").unwrap();
            members == 1 && orphans == 0
        };
        site.until("all shards are owned", all_owned).await;
        times.push(killed.elapsed());
        owner = standby;
    }
    emitter.stop();
    site.drained().await;
    owner.stop();
    println!("take-over after a kill, with a lease of {lease:?}: {times:?}");
    assert!(times.iter().min().unwrap() <= &(lease * 2), "{times:?}");
    site.check().await;
}

#[tokio::test]
async fn a_killed_dispatcher_is_replaced_within_twice_the_lease_on_sqlite() {
    is_replaced_within_twice_the_lease(Server::Sqlite).await;
}

#[tokio::test]
async fn a_killed_dispatcher_is_replaced_within_twice_the_lease_on_postgres() {
    is_replaced_within_twice_the_lease(Server::Postgres).await;
}

#[tokio::test]
async fn a_killed_dispatcher_is_replaced_within_twice_the_lease_on_mariadb() {
    is_replaced_within_twice_the_lease(Server::MariaDb).await;
}
