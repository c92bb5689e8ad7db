//! How many statements an emit sends, and which: counted on SeaORM's mock.

use crate::support::{noted, placed};
use outbox_seaorm::{Draft, Emit};
use sea_orm::{DbBackend, MockDatabase, MockExecResult, TransactionTrait};
use std::time::Duration;

/// The INSERTs a transaction sent: everything but BEGIN and COMMIT.
async fn inserts(backend: DbBackend, drafts: Option<Vec<Draft>>) -> Vec<String> {
    let done = MockExecResult {
        last_insert_id: 0,
        rows_affected: 1,
    };
    let db = MockDatabase::new(backend)
        .append_exec_results(vec![done; 1000])
        .into_connection();
    let txn = db.begin().await.unwrap();
    match drafts {
        None => drop(txn.emit(placed(1)).await.unwrap()),
        Some(drafts) => drop(txn.emit_all(drafts).await.unwrap()),
    }
    txn.commit().await.unwrap();
    let log = db.into_transaction_log();
    let statements = log.iter().flat_map(|transaction| transaction.statements());
    statements
        .map(|statement| statement.sql.clone())
        .filter(|sql| !["BEGIN", "COMMIT"].contains(&&**sql))
        .collect()
}

fn small(number: usize) -> Vec<Draft> {
    (0..number).map(|n| Draft::new(&placed(n))).collect()
}

const ALL: [DbBackend; 3] = [DbBackend::Postgres, DbBackend::MySql, DbBackend::Sqlite];

#[tokio::test]
async fn an_emit_is_one_insert_without_returning() {
    for backend in ALL {
        let sent = inserts(backend, None).await;
        assert_eq!(sent.len(), 1);
        assert!(sent[0].starts_with("INSERT INTO") && !sent[0].contains("RETURNING"));
    }
}

#[tokio::test]
async fn no_event_sends_nothing() {
    for backend in ALL {
        assert!(inserts(backend, Some(vec![])).await.is_empty());
    }
}

#[tokio::test]
async fn a_thousand_small_events_are_one_insert_in_process() {
    assert_eq!(inserts(DbBackend::Sqlite, Some(small(1000))).await.len(), 1);
    assert_eq!(inserts(DbBackend::MySql, Some(small(1000))).await.len(), 1);
    // Over a network a message stays below what stalls.
    assert!(inserts(DbBackend::Postgres, Some(small(1000))).await.len() < 30);
}

#[tokio::test]
async fn mixed_delays_are_one_insert_a_table() {
    for backend in ALL {
        let mut drafts = small(4);
        drafts.push(Draft::new(&placed(5)).after(Duration::from_secs(1)));
        drafts.extend(small(4));
        let sent = inserts(backend, Some(drafts)).await;
        assert_eq!(sent.len(), 2);
        assert!(sent[0].contains("outbox_event") && sent[1].contains("outbox_delayed"));
    }
}

// B012
#[tokio::test]
async fn long_events_do_not_share_a_statement() {
    let long = || {
        (0..40)
            .map(|n| Draft::new(&noted(n, "x".repeat(100_000))))
            .collect()
    };
    assert_eq!(inserts(DbBackend::Postgres, Some(long())).await.len(), 40);
    assert_eq!(inserts(DbBackend::MySql, Some(long())).await.len(), 8);
    assert_eq!(inserts(DbBackend::Sqlite, Some(long())).await.len(), 4);
}
