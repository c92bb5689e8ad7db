use super::Job;
use outbox_seaorm::Emit;
use outbox_tests::conformance::dispatcher::Account;
use sea_orm::{
    ConnectionTrait, DbErr, SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};
use std::time::Duration;

/// How many aggregates there are.
const KEYS: u32 = 6;

/// Emits until the end of the input; every fifth transaction is rolled back.
///
/// The application's own table `change` tells, in the order of the commits, which events there
/// are: a killed emitter cannot.
pub(super) async fn run(job: Job) -> Result<(), DbErr> {
    let mut chance = fastrand::Rng::with_seed(job.seed);
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
        for _ in 0..chance.u32(1..4) {
            let key = format!("x{}", chance.u32(..KEYS));
            let id = txn.emit(Account::changed(&key, "")).await?;
            let sql = "INSERT INTO change (key, event) VALUES (?1, ?2)";
            let values = [key.into(), id.to_string().into()];
            let backend = txn.get_database_backend();
            let insert = Statement::from_sql_and_values(backend, sql, values);
            txn.execute_raw(insert).await?;
            // Whoever kills this process shall meet an open transaction.
            tokio::time::sleep(Duration::from_millis(chance.u64(..4))).await;
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
