use crate::{server::Server, site::Site};
use outbox_core::Draft;
use outbox_seaorm::Emit;
use outbox_tests::{conformance::dispatcher::Account, worker::Conduct};
use sea_orm::{ConnectionTrait, TransactionTrait};

const EVENTS: usize = 5_000;

/// Sixteen processes that start at once, when all is there already: each event is handled by one.
pub(crate) async fn each_event_is_handled_by_one(site: Site) {
    let keys: Vec<_> = (0..500).map(|n| format!("x{n}")).collect();
    for _ in 0..EVENTS / keys.len() {
        let txn = site.db.begin().await.unwrap();
        let drafts: Vec<Draft> = keys.iter().map(|key| Account::changed(key, "")).collect();
        let emitted = txn.emit_all(drafts).await.unwrap();
        let rows = keys.iter().zip(emitted);
        let rows: Vec<_> = rows
            .map(|(key, emitted)| format!("('{key}', '{}')", emitted.id()))
            .collect();
        let sql = format!(
            "INSERT INTO emitted (account, event) VALUES {}",
            rows.join(", ")
        );
        txn.execute_unprepared(&sql).await.unwrap();
        txn.commit().await.unwrap();
    }
    // Longer than a busy machine keeps anybody waiting.
    let conduct = Conduct {
        lease_ms: 9_000,
        ..Conduct::default()
    };
    let start = |n| site.start_with("deliver", &format!("d{n}"), &conduct);
    let fleet: Vec<_> = (0..16).map(start).collect();
    site.drained().await;
    let names: Vec<_> = fleet.iter().map(|process| process.name.clone()).collect();
    for process in fleet {
        process.stop();
    }
    let report = site.check().await;
    assert_eq!((report.events, report.duplicates), (EVENTS, 0));
    let starts: Vec<_> = names.iter().map(|name| site.starts(name)).collect();
    println!("calls of handlers by process: {starts:?}");
    if site.server != Server::Sqlite {
        let working = starts.iter().filter(|starts| **starts > 0);
        assert!(working.count() > 1, "{starts:?}");
    }
}
