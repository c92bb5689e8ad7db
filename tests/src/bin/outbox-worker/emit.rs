use super::Job;
use outbox_seaorm::Emit;
use outbox_tests::conformance::dispatcher::Account;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbErr, SqliteTransactionMode, Statement,
    TransactionOptions, TransactionTrait,
};
use std::{collections::BTreeSet, time::Duration};

/// The text of an event that is to be given up.
pub(super) const DOOMED: &str = "doomed";

/// Emits until the end of the input; every fifth transaction is rolled back.
///
/// The application's own table `emitted` tells, in the order of the commits of an account, which
/// events there are: a killed emitter cannot.
pub(super) async fn run(job: Job) -> Result<(), DbErr> {
    let mut chance = fastrand::Rng::with_seed(job.seed);
    let accounts = accounts(&job.db).await?;
    while !job.end.is_cancelled() {
        // The lock first, then the event: the written order is the order of the commits.
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let txn = match job.db.begin_with_options(options).await {
            Ok(txn) => txn,
            // Locked for too long, by somebody who was stopped with the lock.
            Err(_) => continue,
        };
        let count = chance.usize(1..4);
        // In one order, so that writers wait for each other and never in a circle.
        let keys: BTreeSet<_> = (0..count)
            .map(|_| &accounts[chance.usize(..accounts.len())])
            .collect();
        for key in &keys {
            let sql = format!("UPDATE account SET version = version + 1 WHERE name = '{key}'");
            txn.execute_unprepared(&sql).await?;
            for _ in 0..chance.usize(1..3) {
                let text = if chance.u8(..40) == 0 { DOOMED } else { "" };
                let id = txn.emit(Account::changed(key, text)).await?;
                let sql = format!("INSERT INTO emitted (account, event) VALUES ('{key}', '{id}')");
                txn.execute_unprepared(&sql).await?;
                // Whoever kills this process shall meet an open transaction.
                tokio::time::sleep(Duration::from_millis(chance.u64(..4))).await;
            }
        }
        if chance.u8(..5) == 0 {
            txn.rollback().await?;
        } else {
            txn.commit().await?;
        }
        tokio::time::sleep(Duration::from_millis(chance.u64(5..25))).await;
    }
    Ok(())
}

async fn accounts(db: &DatabaseConnection) -> Result<Vec<String>, DbErr> {
    let sql = "SELECT name FROM account ORDER BY name";
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let rows = db.query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get("", "name")).collect()
}
