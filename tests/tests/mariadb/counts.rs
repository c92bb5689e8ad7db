//! What a dispatcher costs the server: rows that are looked at.

use super::{database::get, harness::MariaDb};
use outbox_core::store::{FetchRequest, History, Outcomes, Settlement, Store, Verdict};
use outbox_seaorm::{Emit, SeaOrmStore};
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, TransactionTrait};
use std::collections::BTreeMap;

async fn emit(db: &DatabaseConnection, events: usize) {
    let txn = db.begin().await.unwrap();
    let things = (0..events).map(|n| Thing::of(&n.to_string(), "x"));
    txn.emit_all(things).await.unwrap();
    txn.commit().await.unwrap();
}

/// How often the engine of the only session was asked for a row.
async fn looked_at(db: &DatabaseConnection) -> i64 {
    let sql = "SHOW SESSION STATUS LIKE 'Handler_read%'";
    let rows = db
        .query_all_raw(Statement::from_string(DbBackend::MySql, sql))
        .await;
    let counts = rows.unwrap();
    let counts = counts.iter().map(|row| get::<String>(row, "Value"));
    counts.map(|count| count.parse::<i64>().unwrap()).sum()
}

/// An owner over one session.
async fn owner(harness: &MariaDb) -> (DatabaseConnection, Actor<SeaOrmStore>) {
    let mut owner = Actor::owner(harness).await;
    let db = harness.0.open(1, "SET @first = 1").await;
    owner.store = SeaOrmStore::from(&db);
    (db, owner)
}

/// What a fetch looks at does not grow with the backlog.
#[tokio::test]
async fn a_fetch_looks_at_what_it_returns() {
    let harness = MariaDb::fresh().await;
    let (db, owner) = owner(&harness).await;
    emit(&db, 300).await;
    let mut looked = Vec::new();
    for _ in 0..2 {
        let mut cursors = owner.cursors();
        for cursor in &mut cursors {
            cursor.limit = 4;
        }
        let request = FetchRequest::new(owner.member.id, &cursors, 1_000);
        // The first asks about the sessions.
        owner.store.fetch(&request).await.unwrap();
        let before = looked_at(&db).await;
        let own = looked_at(&db).await - before;
        let before = looked_at(&db).await;
        let rows = owner.store.fetch(&request).await.unwrap().rows.len();
        let rows = i64::try_from(rows).unwrap();
        looked.push((looked_at(&db).await - before - own, rows));
        emit(&db, 5_000).await;
    }
    println!("rows that a fetch looked at, and returned: {looked:?}");
    for (looked, rows) in looked {
        // The status of the server, the shards, and the list of them; each event in the index, in
        // the table and in the answer.
        assert!(looked <= 3 * rows + 64 * 12 + 1_000, "{looked} for {rows}");
    }
}

/// Neither does what a settle looks at: each event a few times.
#[tokio::test]
async fn a_settle_looks_at_what_it_writes() {
    let harness = MariaDb::fresh().await;
    let (db, owner) = owner(&harness).await;
    emit(&db, 3_000).await;
    let rows = owner.rows().await;
    for history in [History::Discard, History::Keep] {
        let (first, from) = match history {
            History::Keep => (500, "with the history"),
            _ => (0, "without a history"),
        };
        let mut shards = BTreeMap::<_, Vec<_>>::new();
        for row in &rows[first..first + 500] {
            let outcome = Settlement::new(row.position, row.id, Verdict::Done);
            shards.entry(row.shard).or_default().push(outcome);
        }
        let outcomes: Vec<_> = shards
            .into_iter()
            .map(|(shard, outcomes)| Outcomes::new(owner.of(shard), outcomes))
            .collect();
        let before = looked_at(&db).await;
        let settled = owner.store.settle(owner.member.id, &outcomes, history);
        settled.await.unwrap();
        let looked = looked_at(&db).await - before;
        println!("rows that a settle of 500 looked at {from}: {looked}");
        assert!(looked <= 500 * 10, "{from}: {looked}");
    }
}
