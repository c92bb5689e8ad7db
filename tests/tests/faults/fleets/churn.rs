use super::unowned::Unowned;
use crate::{
    freezes::freeze,
    process::Process,
    server::Server,
    site::{Site, pause},
};
use outbox_tests::worker::Conduct;
use std::time::Duration;

/// How often something happens to the fleet.
const ROUNDS: u64 = 10;

/// How many events there are at least: some of each aggregate.
const ENOUGH: i64 = 1_500;

/// How long a shard may lie while somebody could take it: with a lease of a second, that, two thirds of it
/// and a second, as in `ARCHITECTURE.md`, and the longest pause between two polls.
const LONGEST: Duration = Duration::from_millis(1_000 + 667 + 1_000 + 1_000);

/// Dispatchers are killed, frozen, stopped and started while four processes emit.
pub(crate) async fn come_and_go(site: Site) {
    let seed = seed();
    println!("seed {seed}");
    let watch = site.watch();
    let unowned = Unowned::watch(&site, watch.stalls());
    let mut chance = fastrand::Rng::with_seed(seed);
    // Some of their transactions commit long after such as began later; on SQLite there is one at a time.
    let conduct = Conduct {
        late: if site.server == Server::Sqlite { 0 } else { 10 },
        ..Conduct::default()
    };
    let emitters = ["e0", "e1", "e2", "e3"].map(|name| site.start_with("emit", name, &conduct));
    let mut names = (0..).map(|n| format!("d{n}"));
    let mut next = || site.start("deliver", &names.next().unwrap());
    let mut fleet: Vec<Process> = (0..3).map(|_| next()).collect();
    deliver(&site, &fleet).await;
    for round in 0..ROUNDS {
        pause(seed + round, 100..900).await;
        let victim = chance.usize(..fleet.len());
        if chance.u8(..4) == 0 {
            // Until shortly before, or after, somebody takes over.
            freeze(&site, &fleet[victim]).await;
            pause(seed + round, 500..3_000).await;
            fleet[victim].thaw();
            continue;
        }
        match (chance.u8(..3), fleet.len()) {
            (0, 2..) => fleet.swap_remove(victim).kill(),
            (1, 2..) => fleet.swap_remove(victim).stop(),
            (_, ..4) => fleet.push(next()),
            _ => fleet.swap_remove(victim).kill(),
        }
    }
    deliver(&site, &fleet).await;
    let enough = || async { site.count("emitted").await > ENOUGH };
    site.until("enough is emitted", enough).await;
    for emitter in emitters {
        emitter.stop();
    }
    site.drained().await;
    let longest = unowned.longest();
    println!("the longest that a shard lay: {longest:?}");
    assert!(longest <= LONGEST, "{longest:?}");
    for process in fleet {
        process.stop();
    }
    drop(watch);
    let report = site.check().await;
    assert!(report.events > 1_000, "{report:?}");
    assert!(site.count("outbox_dead").await > 0, "some were doomed");
}

/// Waits until each of them has delivered something; on SQLite one delivers, and the others stand by.
async fn deliver(site: &Site, fleet: &[Process]) {
    if site.server == Server::Sqlite {
        let starts = || fleet.iter().map(|process| site.starts(&process.name));
        let before: usize = starts().sum();
        let more = || async { starts().sum::<usize>() > before };
        return site.until("somebody delivers", more).await;
    }
    for process in fleet {
        site.delivers(process).await;
    }
}

/// Which things happen in which order; how long each takes, the machine decides.
fn seed() -> u64 {
    let seed = std::env::var("OUTBOX_TEST_SEED");
    seed.map_or(31, |seed| seed.parse().unwrap())
}
