use super::{Conduct, Kind, job::Job};
use crate::{
    conformance::dispatcher::Account,
    history::{Log, What},
};
use outbox_core::Draft;
use outbox_seaorm::Emit;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, QueryResult,
    SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};
use std::{collections::BTreeSet, time::Duration};

/// The text of an event that is to be given up.
pub(super) const DOOMED: &str = "doomed";
/// The text of an event that fails whenever it is tried.
pub(super) const BROKEN: &str = "broken";

struct Writer {
    db: DatabaseConnection,
    log: Log,
    name: String,
    conduct: Conduct,
    chance: fastrand::Rng,
    accounts: Vec<String>,
}

/// Emits until the end of the input, or until all is emitted that it was to.
pub(super) async fn run(job: Job) -> Result<(), DbErr> {
    let mut writer = Writer {
        accounts: accounts(&job.db).await?,
        db: job.db,
        log: job.log,
        name: job.name,
        conduct: job.conduct,
        chance: fastrand::Rng::with_seed(job.seed),
    };
    while !job.end.is_cancelled() {
        match writer.is_done().await {
            Ok(true) => break,
            Ok(false) => {
                // Cut off, or locked for too long by somebody who was stopped with the lock. What
                // was committed, the database knows.
                let _ = writer.transaction().await;
            }
            Err(_) => {}
        }
        let longest = writer.conduct.pause_ms;
        let pause = writer.chance.u64(longest / 5..=longest);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    Ok(())
}

impl Writer {
    async fn is_done(&self) -> Result<bool, DbErr> {
        if self.conduct.quota == 0 {
            return Ok(false);
        }
        let sql = format!(
            "SELECT count(*) AS n FROM emitted WHERE writer = '{}'",
            self.name
        );
        let row = rows(&self.db, &sql).await?.pop();
        let count: i64 = row.map_or(Ok(0), |row| row.try_get("", "n"))?;
        Ok(count.unsigned_abs() >= self.conduct.quota)
    }

    async fn transaction(&mut self) -> Result<(), DbErr> {
        // The lock first, then the event: the written order is the order of the commits.
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let txn = self.db.begin_with_options(options).await?;
        let count = self.chance.usize(1..4);
        // In one order, so that writers wait for each other and never in a circle.
        let keys: BTreeSet<_> = (0..count)
            .map(|_| self.chance.usize(..self.accounts.len()))
            .map(|index| self.accounts[index].clone())
            .collect();
        for key in &keys {
            let sql = format!("UPDATE account SET version = version + 1 WHERE name = '{key}'");
            txn.execute_unprepared(&sql).await?;
            for _ in 0..self.chance.usize(1..3) {
                self.emit(&txn, key).await?;
                // Whoever kills this process shall meet an open transaction.
                tokio::time::sleep(Duration::from_millis(self.chance.u64(..4))).await;
            }
        }
        if self.chance.u32(..1_000) < self.conduct.rollback {
            self.log.about(What::Struck, "rollback");
            return txn.rollback().await;
        }
        if self.chance.u32(..1_000) < self.conduct.late {
            return self.commit_late(txn).await;
        }
        txn.commit().await
    }

    async fn emit(&mut self, txn: &DatabaseTransaction, key: &str) -> Result<(), DbErr> {
        let (kind, draft) = self.draft(key);
        let id = txn.emit(draft).await?.id();
        let (kind, name) = (kind.code(), &self.name);
        let sql = format!(
            "INSERT INTO emitted (account, event, kind, writer) \
            VALUES ('{key}', '{id}', {kind}, '{name}')"
        );
        txn.execute_unprepared(&sql).await?;
        Ok(())
    }

    fn draft(&mut self, key: &str) -> (Kind, Draft) {
        if self.chance.u8(..40) == 0 {
            return (Kind::Ordered, Account::changed(key, DOOMED));
        }
        if !self.conduct.mixed {
            return (Kind::Ordered, Account::changed(key, ""));
        }
        let length = match self.chance.u8(..50) {
            0 => self.chance.usize(10_000..100_000),
            _ => self.chance.usize(..300),
        };
        let text = "x".repeat(length);
        match self.chance.u8(..100) {
            0..=1 => (Kind::Ordered, Account::closed(key, BROKEN)),
            2..=16 => (Kind::Ordered, Account::closed(key, &text)),
            17..=24 => (Kind::Unordered, Account::noted(key, &text)),
            25..=34 => {
                let delay = Duration::from_millis(self.chance.u64(50..1_500));
                (Kind::Delayed, Account::changed(key, &text).after(delay))
            }
            _ => (Kind::Ordered, Account::changed(key, &text)),
        }
    }

    /// Others go on meanwhile; on SQLite nobody can, and a lease may run out.
    async fn commit_late(&mut self, txn: DatabaseTransaction) -> Result<(), DbErr> {
        self.log.about(What::Struck, "late");
        let is_alone = self.db.get_database_backend() == DbBackend::Sqlite;
        let (all, fault) = (
            self.log.by("*"),
            format!("late-{}-{}", self.name, self.chance.u32(..)),
        );
        if is_alone {
            all.about(What::Outage, &fault);
        }
        tokio::time::sleep(Duration::from_millis(self.chance.u64(500..2_500))).await;
        let result = txn.commit().await;
        if is_alone {
            all.about(What::Over, &fault);
        }
        result
    }
}

/// However long the database is away.
async fn accounts(db: &DatabaseConnection) -> Result<Vec<String>, DbErr> {
    let sql = "SELECT name FROM account ORDER BY name";
    loop {
        match rows(db, sql).await {
            Ok(rows) => return rows.iter().map(|row| row.try_get("", "name")).collect(),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// In a transaction: behind a pooler a statement may be prepared in one session and executed in another.
async fn rows(db: &DatabaseConnection, sql: &str) -> Result<Vec<QueryResult>, DbErr> {
    let txn = db.begin().await?;
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let rows = txn.query_all_raw(statement).await?;
    txn.commit().await?;
    Ok(rows)
}
