use super::{
    clocks,
    process::Process,
    server::{Server, connect},
    watch::Watch,
};
use outbox_seaorm::{Emit, schema};
use outbox_tests::{
    conformance::dispatcher::Account,
    history::{Log, Report, What},
    servers::{PgBouncer, Pooling},
    worker::{self, Conduct},
};
use sea_orm::{ConnectionTrait, DatabaseConnection, QueryResult, Statement, TransactionTrait};
use std::{
    collections::BTreeSet,
    future::Future,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;
use uuid::Uuid;

/// A database, and the log of all that happens to it.
pub(crate) struct Site {
    pub(crate) db: DatabaseConnection,
    pub(crate) log: Log,
    pub(crate) server: Server,
    /// Where processes connect to.
    url: String,
    /// Where those do that emit.
    emit_url: String,
    directory: TempDir,
    _poolers: Vec<PgBouncer>,
}

impl Site {
    /// On SQLite in a file.
    pub(crate) async fn new() -> Self {
        Self::with(Server::Sqlite, 6).await
    }

    /// With as many aggregates as a fleet needs.
    pub(crate) async fn on(server: Server) -> Self {
        Self::with(server, 500).await
    }

    /// On PostgreSQL, behind a pooler in transaction mode. Where that loses what is prepared, those who
    /// emit do without a cache of statements, and dispatchers go through one in session mode.
    pub(crate) async fn behind_a_pooler() -> Self {
        let mut site = Self::on(Server::Postgres).await;
        let (server, database) = site.url.rsplit_once('/').unwrap();
        let (user, port) = server.rsplit_once(':').unwrap();
        let start = |pooling| PgBouncer::start(port.parse().unwrap(), pooling);
        let through = |pooler: &PgBouncer, settings: &str| {
            format!(
                "{user}:{}/{database}?sslmode=disable{settings}",
                pooler.port()
            )
        };
        let transactions = start(Pooling::Transaction);
        if PgBouncer::follows_prepared_statements() {
            site.url = through(&transactions, "");
            site.emit_url = site.url.clone();
            site._poolers = vec![transactions];
        } else {
            let sessions = start(Pooling::Session);
            site.emit_url = through(&transactions, "&statement-cache-capacity=0");
            site.url = through(&sessions, "");
            site._poolers = vec![transactions, sessions];
        }
        site
    }

    async fn with(server: Server, accounts: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = server.create(directory.path()).await;
        Self::at(url, server, accounts, directory).await
    }

    /// In an empty database.
    pub(crate) async fn at(url: String, server: Server, accounts: u32, directory: TempDir) -> Self {
        let db = connect(&url).await;
        schema::create(&db).await.unwrap();
        worker::accounts(&db, accounts).await.unwrap();
        Self {
            log: Log::open(&directory.path().join("log"), "test"),
            db,
            server,
            emit_url: url.clone(),
            url,
            directory,
            _poolers: Vec::new(),
        }
    }

    /// Starts a process.
    pub(crate) fn start(&self, mode: &str, name: &str) -> Process {
        self.spawn(name, &mut self.command(mode, name))
    }

    /// Starts a process that behaves in this way.
    pub(crate) fn start_with(&self, mode: &str, name: &str, conduct: &Conduct) -> Process {
        let mut command = self.command(mode, name);
        command.arg(serde_json::to_string(conduct).unwrap());
        self.spawn(name, &mut command)
    }

    /// Starts a process whose clock is so many seconds fast.
    pub(crate) fn start_off(&self, mode: &str, name: &str, seconds: i64) -> Process {
        let mut command = self.command(mode, name);
        command
            .env("LD_PRELOAD", clocks::library())
            .env("FAKETIME", format!("{seconds:+}"))
            // In a zone that is no full hour away (B010).
            .env("TZ", "Asia/Kathmandu")
            // Computers have but one monotonic clock.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
        self.spawn(name, &mut command)
    }

    fn command(&self, mode: &str, name: &str) -> Command {
        let seed: u64 = name.bytes().map(u64::from).sum();
        let mut command = Command::new(env!("CARGO_BIN_EXE_outbox-worker"));
        let url = if mode == "emit" {
            &self.emit_url
        } else {
            &self.url
        };
        command.arg(mode).arg(url).arg(self.log_path());
        command.args([name, &seed.to_string()]);
        command
    }

    fn spawn(&self, name: &str, command: &mut Command) -> Process {
        let child = command.stdin(Stdio::piped()).spawn();
        Process::new(name, child.unwrap(), &self.log)
    }

    /// Emits an event from this process.
    pub(crate) async fn emit(&self, key: &str) {
        self.emit_text(key, "").await;
    }

    /// Emits an event that says something.
    pub(crate) async fn emit_text(&self, key: &str, text: &str) -> Uuid {
        let txn = self.db.begin().await.unwrap();
        let id = txn.emit(Account::changed(key, text)).await.unwrap().id();
        let sql = format!("INSERT INTO emitted (account, event) VALUES ('{key}', '{id}')");
        txn.execute_unprepared(&sql).await.unwrap();
        txn.commit().await.unwrap();
        id
    }

    /// How many calls of handlers a process has written down.
    pub(crate) fn starts(&self, name: &str) -> usize {
        self.wrote(name, What::Started)
    }

    /// How many records of a kind a process has written down.
    pub(crate) fn wrote(&self, name: &str, what: What) -> usize {
        let history = self.log.history();
        let records = history.records().iter();
        records
            .filter(|record| record.what == what && record.by == name)
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
        self.tell_emitted().await;
        let dead = self.query("SELECT id FROM outbox_dead").await;
        let dead: BTreeSet<Uuid> = dead
            .iter()
            .map(|row| row.try_get("", "id").unwrap())
            .collect();
        assert_eq!(dead, self.given_up(), "what handlers gave up, and no more");
        let report = self.log.history().assert_clean();
        println!("{report:?}");
        report
    }

    /// Writes the committed events into the log, in their order.
    pub(crate) async fn tell_emitted(&self) {
        let emitter = self.log.by("emitter");
        let sql = "SELECT account, event FROM emitted ORDER BY n";
        for row in self.query(sql).await {
            let account: String = row.try_get("", "account").unwrap();
            let event: String = row.try_get("", "event").unwrap();
            emitter.emitted(&account, event.parse().unwrap());
        }
    }

    fn given_up(&self) -> BTreeSet<Uuid> {
        let history = self.log.history();
        let records = history.records().iter();
        records
            .filter(|record| record.what == What::Dead)
            .map(|record| record.id)
            .collect()
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) AS n FROM {table}");
        self.query(&sql).await[0].try_get("", "n").unwrap()
    }

    /// Reads, however long somebody holds a lock.
    pub(crate) async fn query(&self, sql: &str) -> Vec<QueryResult> {
        for _ in 0..10 {
            let statement = Statement::from_string(self.db.get_database_backend(), sql);
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

    /// Writes down when the database is slower than leases are renewed: on a busy machine one may
    /// run out then. Until what this returns is dropped.
    pub(crate) fn watch(&self) -> Watch {
        Watch::start(&self.url, &self.log)
    }

    /// Where its database is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The name of its database.
    pub(crate) fn database_name(&self) -> String {
        self.url.rsplit('/').next().unwrap().to_owned()
    }

    fn log_path(&self) -> PathBuf {
        self.directory.path().join("log")
    }
}

/// A pause of a length that looks random and is not.
pub(crate) async fn pause(round: u64, milliseconds: std::ops::Range<u64>) {
    let mut chance = fastrand::Rng::with_seed(round);
    tokio::time::sleep(Duration::from_millis(chance.u64(milliseconds))).await;
}
