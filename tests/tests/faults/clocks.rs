//! Processes whose clocks are wrong: for leases, delays and what is old only the database's counts.
//! B051.

use super::site::Site;
use outbox_seaorm::Emit;
use outbox_tests::conformance::dispatcher::Account;
use sea_orm::TransactionTrait;
use std::{path::PathBuf, time::Duration};

/// In seconds: longer than a lease, and than the history is kept.
const OFF: i64 = 40 * 24 * 3_600;

/// One is fast and one is slow, of the dispatchers and of the writers.
pub(crate) async fn only_the_databases_clock_counts(site: Site) {
    let emitters = [("e0", OFF), ("e1", -OFF)];
    let emitters = emitters.map(|(name, off)| site.start_off("emit", name, off));
    let fleet = [("d0", OFF), ("d1", -OFF)];
    let fleet = fleet.map(|(name, off)| site.start_off("deliver", name, off));
    for process in &fleet {
        site.delivers(process).await;
    }
    let hour = Duration::from_secs(3_600);
    let txn = site.db.begin().await.unwrap();
    for number in 0..20 {
        let key = format!("later {number}");
        txn.emit(Account::changed(&key, "").after(hour))
            .await
            .unwrap();
    }
    txn.commit().await.unwrap();
    // Both have looked more than once who is alive, what is due, and what is old.
    let enough = || async { site.count("outbox_delivered").await > 600 };
    site.until("enough is delivered", enough).await;
    for emitter in emitters {
        emitter.stop();
    }
    site.drained().await;
    for process in fleet {
        process.stop();
    }
    assert_eq!(site.check().await.duplicates, 0, "no lease was lost");
    assert_eq!(site.count("outbox_delayed").await, 20, "none was due");
    let kept = site.count("outbox_delivered").await + site.count("outbox_dead").await;
    assert_eq!(kept, site.count("emitted").await, "nothing was old");
}

/// What changes a process's clock, and nobody else's.
pub(crate) fn library() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").unwrap().flatten();
    let mut paths = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    let found = paths.find(|path| path.is_file());
    let missing = "no libfaketime: run these tests with ./tests/run";
    found.ok_or(missing).unwrap()
}
