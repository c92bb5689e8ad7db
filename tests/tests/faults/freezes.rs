//! Dispatchers that are stopped for longer than their lease, and go on.

use super::{
    process::Process,
    server::Server,
    site::{Site, pause},
};
use outbox_tests::history::What;
use sea_orm::{ConnectionTrait, SqliteTransactionMode, TransactionOptions, TransactionTrait};
use std::time::Duration;

/// Stops a process that does not hold the only write lock of SQLite: nobody could take over.
pub(crate) async fn freeze(site: &Site, process: &Process) {
    if site.server != Server::Sqlite {
        return process.freeze();
    }
    let pragma = "PRAGMA busy_timeout = 200";
    site.db.execute_unprepared(pragma).await.unwrap();
    for _ in 0..100 {
        process.freeze();
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Exclusive),
            ..TransactionOptions::default()
        };
        if let Ok(lock) = site.db.begin_with_options(options).await {
            lock.rollback().await.unwrap();
            return;
        }
        process.thaw();
        tokio::time::sleep(Duration::from_millis(7)).await;
    }
    unreachable!("it always holds the lock")
}

#[tokio::test]
async fn a_stopped_dispatcher_is_replaced_and_stands_by_when_it_goes_on() {
    let site = Site::new().await;
    let emitter = site.start("emit", "emitter");
    let mut owner = site.start("deliver", "d0");
    site.delivers(&owner).await;
    let mut standby = site.start("deliver", "d1");
    for round in 1..=3 {
        pause(round, 200..900).await;
        freeze(&site, &owner).await;
        site.delivers(&standby).await;
        pause(round, 50..300).await;
        owner.thaw();
        std::mem::swap(&mut owner, &mut standby);
        site.delivers(&owner).await;
    }
    emitter.stop();
    site.drained().await;
    for process in [owner, standby] {
        process.stop();
    }
    let report = site.check().await;
    assert!(report.events > 100, "{report:?}");
}

#[tokio::test]
async fn handlers_that_block_the_runtime_keep_the_lease() {
    blocked_leases_are_kept(Site::new().await).await;
}

/// The heartbeat has a thread of its own: nobody takes over what is in work. On SQLite the other one
/// stands by; on the servers it gets its share, of what is free.
pub(crate) async fn blocked_leases_are_kept(site: Site) {
    for _ in 0..3 {
        site.emit("a").await;
        site.emit("b").await;
    }
    let owner = site.start("block", "owner");
    site.delivers(&owner).await;
    let standby = site.start("deliver", "standby");
    site.drained().await;
    if site.server == Server::Sqlite {
        assert_eq!(site.starts("standby"), 0, "it stands by");
    }
    assert_eq!(site.starts("owner") + site.starts("standby"), 6);
    for process in [owner, standby] {
        process.stop();
    }
    assert_eq!(site.check().await.duplicates, 0);
}

#[tokio::test]
async fn a_stopped_dispatcher_writes_no_retry_and_no_dead_letter() {
    nothing_fenced_is_written(Site::new().await).await;
}

/// Handlers fail in a process that was stopped until somebody else had taken over.
pub(crate) async fn nothing_fenced_is_written(site: Site) {
    for key in ["a", "b", "c", "d"] {
        for _ in 0..2 {
            site.emit(key).await;
        }
    }
    let frozen = site.start("fail", "frozen");
    let started = || async { site.starts("frozen") == 4 };
    site.until("all heads are in work", started).await;
    freeze(&site, &frozen).await;
    let hanging = site.start("hang", "hanging");
    let taken = || async { site.starts("hanging") == 4 };
    site.until("taken over", taken).await;
    frozen.thaw();
    let ended =
        || async { site.wrote("frozen", What::Dropped) + site.wrote("frozen", What::Failed) >= 4 };
    site.until("its handlers have ended", ended).await;
    pause(0, 1_000..1_001).await;
    assert_eq!(site.starts("frozen"), 4, "it started nothing more");
    let sql = "SELECT count(*) AS n FROM outbox_event WHERE attempts = 0 AND retry_at IS NULL";
    let untouched: i64 = site.query(sql).await[0].try_get("", "n").unwrap();
    assert_eq!(untouched, 8);
    hanging.kill();
    frozen.kill();
    let last = site.start("deliver", "last");
    site.drained().await;
    last.stop();
    assert_eq!(site.check().await.events, 8);
}

#[tokio::test]
async fn a_stopped_dispatcher_drops_its_handlers_when_it_goes_on() {
    handlers_are_dropped(Site::new().await).await;
}

/// Handlers wait in a process that was stopped until somebody else had taken over.
pub(crate) async fn handlers_are_dropped(site: Site) {
    for key in ["a", "b", "c", "d"] {
        site.emit(key).await;
    }
    let frozen = site.start("hang", "frozen");
    let started = || async { site.starts("frozen") == 4 };
    site.until("all are in work", started).await;
    freeze(&site, &frozen).await;
    let heir = site.start("deliver", "heir");
    site.drained().await;
    assert_eq!(site.wrote("frozen", What::Dropped), 0);
    frozen.thaw();
    let dropped = || async { site.wrote("frozen", What::Dropped) == 4 };
    site.until("its handlers are dropped", dropped).await;
    heir.stop();
    frozen.stop();
    assert_eq!(site.check().await.events, 4);
}
