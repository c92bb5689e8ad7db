//! How many rows MariaDB visits for what operators ask and for what is pruned, counted by itself.

use super::{
    database::{Database, execute, get},
    harness::MariaDb,
};
use outbox_core::{
    Operator,
    operator::{By, EventFilter, Filter, HistoryFilter, LetterFilter, OperatorStore, SCAN, Span},
    store::{Kept, Store},
};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::{Harness, Table};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};
use std::{future::Future, time::Duration};
use uuid::Uuid;

const ROWS: u32 = 60_000;

/// Of what a look passes, some rows are looked up in other tables, or read again.
const FEW: u64 = 3 * SCAN as u64;

/// A look at each of four tables, and a list of some rows that is read again.
const COUNTING: u64 = 10 * SCAN as u64;

/// A look, of which a list is made that is read again.
const WAITING: u64 = 6 * SCAN as u64;

/// The only session of a pool, which counts what it reads.
struct Session(DatabaseConnection);

impl Session {
    /// How many rows were read, and how many sorted, to do this.
    async fn visits<F: Future>(&self, what: &str, work: F) {
        self.visits_at_most(FEW, what, work).await;
    }

    async fn visits_at_most<F: Future>(&self, most: u64, what: &str, work: F) {
        execute(&self.0, "FLUSH STATUS", []).await;
        work.await;
        let sql = "SELECT CAST(SUM(VARIABLE_VALUE) AS UNSIGNED) AS v \
            FROM information_schema.SESSION_STATUS \
            WHERE VARIABLE_NAME LIKE 'HANDLER\\_READ\\_%' OR VARIABLE_NAME = 'SORT_ROWS'";
        let statement = Statement::from_string(DbBackend::MySql, sql);
        let row = self.0.query_one_raw(statement).await.unwrap();
        let rows: u64 = get(&row.unwrap(), "v");
        println!("{what}: {rows}");
        assert!(rows < most, "{what}: {rows} rows");
    }
}

#[tokio::test]
async fn questions_visit_few_rows_whatever_the_statistics() {
    let harness = MariaDb::fresh().await;
    let tables = harness.tables().unwrap();
    // `ANALYZE` mostly meets an outbox that is nearly empty.
    for table in Table::ALL {
        tables.fill(table, 3).await;
        tables.analyze(table).await;
        let name = table.name();
        let frozen = format!("ALTER TABLE {name} STATS_AUTO_RECALC = 0");
        tables.run(&frozen).await;
        tables.run(&format!("DELETE FROM {name}")).await;
        tables.fill(table, ROWS).await;
    }
    for statistics in ["of an empty outbox", "fresh"] {
        println!("statistics {statistics}");
        everything(&harness.0).await;
        for table in Table::ALL {
            tables.analyze(table).await;
        }
    }
}

/// Which events are asked for.
#[derive(Clone, Copy)]
enum Which {
    All,
    Paid,
    Nobody,
}

impl Which {
    fn filter<M: Default>(self) -> Filter<M> {
        match self {
            Self::All => Filter::all(),
            Self::Paid => Filter::all().topic("order.paid"),
            Self::Nobody => Filter::all().aggregate("nobody").key("7"),
        }
    }
}

async fn everything(database: &Database) {
    let db = database.open(1, "SET @first = 1").await;
    let (session, store) = (Session(db.clone()), SeaOrmStore::from(&db));
    let operator = Operator::<SeaOrmStore>::new(&db, "alice");
    let by = By::new("alice", "a test");
    for which in [Which::All, Which::Paid, Which::Nobody] {
        let letters: LetterFilter = which.filter();
        let letters = letters.error("no").dead_for(Duration::from_secs(60));
        let listed = store.letters(&letters, Span::new(0, 100));
        session.visits("letters", listed).await;
        let last = Span::new(i64::from(ROWS) - 10, 100);
        session
            .visits("last letters", store.letters(&letters, last))
            .await;
        let events: EventFilter = which.filter();
        let listed = operator.scheduled(&events, Uuid::nil());
        session.visits("scheduled", listed).await;
        let listed = operator.failing(&events, 0, 0);
        session.visits("failing", listed).await;
        let history: HistoryFilter = which.filter();
        let step = store.replay(Uuid::now_v7(), &history, 10, 10, &by);
        session.visits("replay", step).await;
    }
    session.visits("letter", operator.letter(77)).await;
    session.visits("oldest", operator.oldest()).await;
    session
        .visits("operations", operator.operations(None))
        .await;
    session.visits("dispatchers", operator.dispatchers()).await;
    session
        .visits_at_most(WAITING, "blocked", operator.blocked(0))
        .await;
    let status = operator.status(Uuid::now_v7());
    session.visits_at_most(100, "status", status).await;
    let month = Duration::from_secs(30 * 24 * 3_600);
    session.visits("expired", store.expired(month, 100)).await;
    for kept in [Kept::Delivered, Kept::Dead, Kept::Operations] {
        let pruned = store.prune(kept, month, 1_000);
        session.visits(&format!("prune {kept:?}"), pruned).await;
    }
    session.visits("retry", operator.retry(100, "a test")).await;
    session.visits("skip", operator.skip(102, "a test")).await;
    session
        .visits("discard", operator.discard(104, "a test"))
        .await;
    let counted = operator.counts();
    session.visits_at_most(COUNTING, "counts", counted).await;
}
