use super::process::Process;
use outbox_seaorm::{Emit, schema};
use outbox_tests::{
    conformance::dispatcher::Account,
    history::{Log, Report, What},
};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, QueryResult,
    Statement, TransactionTrait,
};
use std::{
    future::Future,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;

/// A database in a file, and the log of all that happens to it.
pub(crate) struct Site {
    pub(crate) db: DatabaseConnection,
    pub(crate) log: Log,
    directory: TempDir,
}

impl Site {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("app.db");
        let mut options = ConnectOptions::new(format!("sqlite://{}?mode=rwc", path.display()));
        options.max_connections(1).sqlx_logging(false);
        let db = Database::connect(options).await.unwrap();
        schema::create(&db).await.unwrap();
        let change = "CREATE TABLE change (n INTEGER PRIMARY KEY, key TEXT, event TEXT)";
        db.execute_unprepared(change).await.unwrap();
        Self {
            log: Log::open(&directory.path().join("log"), "test"),
            db,
            directory,
        }
    }

    /// Starts a process.
    pub(crate) fn start(&self, mode: &str, name: &str) -> Process {
        let seed: u64 = name.bytes().map(u64::from).sum();
        let child = Command::new(env!("CARGO_BIN_EXE_outbox-worker"))
            .arg(mode)
            .args([self.path("app.db"), self.path("log")])
            .args([name, &seed.to_string()])
            .stdin(Stdio::piped())
            .spawn();
        Process::new(name, child.unwrap(), &self.log)
    }

    /// Emits an event from this process.
    pub(crate) async fn emit(&self, key: &str) {
        let txn = self.db.begin().await.unwrap();
        let id = txn.emit(Account::changed(key, "")).await.unwrap();
        let sql = format!("INSERT INTO change (key, event) VALUES ('{key}', '{id}')");
        txn.execute_unprepared(&sql).await.unwrap();
        txn.commit().await.unwrap();
    }

    /// How many calls of handlers a process has written down.
    pub(crate) fn starts(&self, name: &str) -> usize {
        let history = self.log.history();
        let records = history.records().iter();
        records
            .filter(|record| record.what == What::Started && record.by == name)
            .count()
    }

    /// Waits until a process calls a handler that it had not called before.
    pub(crate) async fn delivers(&self, process: &Process) {
        let before = self.starts(&process.name);
        let started = || async { self.starts(&process.name) > before };
        self.until(&format!("{} delivers", process.name), started)
            .await;
    }

    /// Waits until everything is delivered.
    pub(crate) async fn drained(&self) {
        let empty = || async { self.count("outbox_event").await == 0 };
        self.until("all delivered", empty).await;
    }

    /// Checks what happened against what was committed.
    pub(crate) async fn check(&self) -> Report {
        let emitter = self.log.by("emitter");
        for row in self.query("SELECT key, event FROM change ORDER BY n").await {
            let key: String = row.try_get("", "key").unwrap();
            let event: String = row.try_get("", "event").unwrap();
            emitter.emitted(&key, event.parse().unwrap());
        }
        assert_eq!(self.count("outbox_dead").await, 0);
        let report = self.log.history().assert_clean();
        println!("{report:?}");
        report
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) AS n FROM {table}");
        self.query(&sql).await[0].try_get("", "n").unwrap()
    }

    /// Reads, however long somebody holds a lock.
    pub(crate) async fn query(&self, sql: &str) -> Vec<QueryResult> {
        for _ in 0..10 {
            let statement = Statement::from_string(DbBackend::Sqlite, sql);
            if let Ok(rows) = self.db.query_all_raw(statement).await {
                return rows;
            }
        }
        unreachable!("locked for ever: {sql}")
    }

    pub(crate) async fn until<Fut: Future<Output = bool>>(
        &self,
        what: &str,
        holds: impl Fn() -> Fut,
    ) {
        for _ in 0..3_000 {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        unreachable!("never: {what}")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// A pause of a length that looks random and is not.
pub(crate) async fn pause(round: u64, milliseconds: std::ops::Range<u64>) {
    let mut chance = fastrand::Rng::with_seed(round);
    tokio::time::sleep(Duration::from_millis(chance.u64(milliseconds))).await;
}
