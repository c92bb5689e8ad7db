//! What a dispatcher costs the server: rows that are looked at, statements, sessions.

use super::{database::get, harness::MariaDb};
use outbox_core::store::{FetchRequest, History, Outcomes, Row, Settlement, Store, Verdict};
use outbox_seaorm::{CancellationToken, Delivery, Dispatcher, Emit, SeaOrmStore};
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, TransactionTrait};
use std::{collections::BTreeMap, time::Duration};

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

/// These events have all been delivered.
fn successes(owner: &Actor<SeaOrmStore>, rows: &[Row]) -> Vec<Outcomes> {
    let mut shards = BTreeMap::<_, Vec<_>>::new();
    for row in rows {
        let outcome = Settlement::new(row.position, row.id, Verdict::Done);
        shards.entry(row.shard).or_default().push(outcome);
    }
    let outcomes = shards.into_iter();
    let outcomes = outcomes.map(|(shard, outcomes)| Outcomes::new(owner.of(shard), outcomes));
    outcomes.collect()
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
        let outcomes = successes(&owner, &rows[first..first + 500]);
        let before = looked_at(&db).await;
        let settled = owner.store.settle(owner.member.id, &outcomes, history);
        settled.await.unwrap();
        let looked = looked_at(&db).await - before;
        println!("rows that a settle of 500 looked at {from}: {looked}");
        assert!(looked <= 500 * 10, "{from}: {looked}");
    }
}

/// How many statements the only session has been sent, this one with them.
async fn sent(db: &DatabaseConnection) -> i64 {
    let sql = "SHOW SESSION STATUS LIKE 'Questions'";
    let row = db.query_one_raw(Statement::from_string(DbBackend::MySql, sql));
    let sent: String = get(&row.await.unwrap().unwrap(), "Value");
    sent.parse().unwrap()
}

#[tokio::test]
async fn a_settle_is_a_few_statements_however_many_it_writes() {
    let harness = MariaDb::fresh().await;
    let (db, owner) = owner(&harness).await;
    emit(&db, 602).await;
    let rows = owner.rows().await;
    let (one, more) = rows.split_at(2);
    // A transaction is six: its isolation, its begin and its end, the time that it may be silent, before
    // and after, and one more end that tells the pool.
    for (rows, history, statements) in [
        (&one[..1], History::Discard, 6 + 3),
        (&more[..300], History::Discard, 6 + 3),
        (&one[1..], History::Keep, 6 + 4),
        (&more[300..], History::Keep, 6 + 4),
    ] {
        let outcomes = successes(&owner, rows);
        let before = sent(&db).await;
        let settled = owner.store.settle(owner.member.id, &outcomes, history);
        settled.await.unwrap();
        let sent = sent(&db).await - before - 1;
        assert_eq!(sent, statements, "{history:?} of {}", rows.len());
    }
    assert_eq!(harness.pending().await, []);
}

#[tokio::test]
async fn a_fetch_is_one_statement() {
    let harness = MariaDb::fresh().await;
    let (db, owner) = owner(&harness).await;
    emit(&db, 100).await;
    let cursors = owner.cursors();
    let request = FetchRequest::new(owner.member.id, &cursors, 1_000);
    // The first asks about the sessions.
    owner.store.fetch(&request).await.unwrap();
    let before = sent(&db).await;
    let rows = owner.store.fetch(&request).await.unwrap().rows.len();
    assert_eq!((sent(&db).await - before - 1, rows), (1, 100));
}

/// Those of what goes on at the same time, and no more where the pool has many: reading, writing and
/// what is done now and then, each of which may need another one while the last is on its way back (sqlx
/// pings it first), and the heartbeat beside the pool.
#[tokio::test]
async fn a_dispatcher_takes_few_sessions() {
    const EVENTS: usize = 5_000;
    let harness = MariaDb::fresh().await;
    emit(&harness.0.db, EVENTS).await;
    let sessions = || async {
        let sql = "SELECT COUNT(*) AS v FROM information_schema.PROCESSLIST WHERE DB = DATABASE()";
        harness.0.values::<i64>(sql).await[0]
    };
    let before = sessions().await;
    let db = harness.0.open(20, "SET @first = 1").await;
    let opened = sessions().await - before;
    let dispatcher = Dispatcher::builder(&db).on_event(async |_: Thing, _: Delivery| Ok(()));
    let dispatcher = dispatcher.spawn(CancellationToken::new()).unwrap();
    while dispatcher.stats().delivered < EVENTS as u64 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let taken = sessions().await - before;
    dispatcher.shutdown().await;
    println!("sessions of a dispatcher: {taken}, {opened} of them opened with the pool");
    assert!(taken <= 3 * 2 + 1, "{taken}");
}
