//! Dispatchers whose handlers work in the transactions that complete their events, killed and
//! stopped. What was done is what was committed: each event once, in the order of its account.

use super::{
    freezes::freeze,
    process::Process,
    server::Server,
    site::{Site, pause},
};
use std::collections::{BTreeMap, BTreeSet};

/// So often each thing happens.
const ROUNDS: u64 = 6;

macro_rules! bookings {
    ($server:ident, $module:ident) => {
        mod $module {
            use super::*;

            #[tokio::test]
            async fn effects_happen_once_when_dispatchers_are_killed() {
                are_killed(Site::on(Server::$server).await).await;
            }

            #[tokio::test]
            async fn effects_happen_once_when_dispatchers_are_stopped_past_their_lease() {
                are_stopped(Site::on(Server::$server).await).await;
            }
        }
    };
}

bookings!(Sqlite, sqlite);
bookings!(Postgres, postgres);
bookings!(MariaDb, mariadb);

async fn are_killed(site: Site) {
    let emitter = site.start("emit", "emitter");
    let mut names = (0..).map(|n| format!("d{n}"));
    let mut next = || site.start("book", &names.next().unwrap());
    let mut fleet = vec![next(), next()];
    for round in 0..ROUNDS {
        fleet.push(next());
        books(&site).await;
        pause(round, 50..500).await;
        fleet.remove(0).kill();
        books(&site).await;
    }
    end(&site, emitter, fleet).await;
}

async fn are_stopped(site: Site) {
    let emitter = site.start("emit", "emitter");
    let fleet = vec![site.start("book", "d0"), site.start("book", "d1")];
    books(&site).await;
    for round in 0..ROUNDS {
        let victim = &fleet[usize::from(round % 2 == 1)];
        freeze(&site, victim).await;
        // Longer than the lease, and until somebody else has taken over, as a rule.
        pause(round, 1_500..3_000).await;
        victim.thaw();
        books(&site).await;
    }
    end(&site, emitter, fleet).await;
}

/// Waits until something more is done.
async fn books(site: &Site) {
    let before = site.count("effect").await;
    let more = || async { site.count("effect").await > before };
    site.until("more is done", more).await;
}

async fn end(site: &Site, emitter: Process, fleet: Vec<Process>) {
    emitter.stop();
    site.drained().await;
    for process in fleet {
        process.stop();
    }
    let done = by_account(site, "effect").await;
    let dead: BTreeSet<String> = texts(site, "SELECT id AS event FROM outbox_dead").await;
    let mut asked = by_account(site, "emitted").await;
    for events in asked.values_mut() {
        events.retain(|event| !dead.contains(event));
    }
    asked.retain(|_, events| !events.is_empty());
    let count: usize = done.values().map(Vec::len).sum();
    println!("{count} events done, {} given up", dead.len());
    assert!(count > 100, "{count}");
    for (account, events) in &asked {
        assert_eq!(done.get(account), Some(events), "{account}");
    }
    assert_eq!(done.len(), asked.len());
}

/// The events in a table of the application, in the order in which they were written.
async fn by_account(site: &Site, table: &str) -> BTreeMap<String, Vec<String>> {
    let mut events: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let sql = format!("SELECT account, event FROM {table} ORDER BY n");
    for row in site.query(&sql).await {
        let account = row.try_get("", "account").unwrap();
        let event = row.try_get("", "event").unwrap();
        events.entry(account).or_default().push(event);
    }
    events
}

async fn texts(site: &Site, sql: &str) -> BTreeSet<String> {
    let rows = site.query(sql).await;
    let ids = rows.iter().map(|row| row.try_get("", "event").unwrap());
    ids.map(|id: uuid::Uuid| id.to_string()).collect()
}
