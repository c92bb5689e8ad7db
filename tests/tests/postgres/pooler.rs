//! What a pooler in transaction mode does to prepared statements. B095.

use crate::database::{self, Database};
use outbox_tests::{
    conformance::Thing,
    servers::{PgBouncer, Pooling},
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement, TransactionTrait};

/// A pooler with two sessions, which it gives in turn, and a pool of one connection to it.
async fn pooled(database: &Database, parameters: &str) -> (PgBouncer, DatabaseConnection) {
    let pooler = PgBouncer::start(database::port(), Pooling::Transaction);
    let other = database.open_through(pooler.port(), parameters, 1).await;
    let db = database.open_through(pooler.port(), parameters, 1).await;
    let busy = other.begin().await.unwrap();
    busy.execute_unprepared("SELECT 1").await.unwrap();
    db.execute_unprepared("SELECT 1").await.unwrap();
    busy.rollback().await.unwrap();
    (pooler, db)
}

async fn prepared(db: &impl ConnectionTrait) -> Result<i32, DbErr> {
    let sql = "SELECT $1::int + 1 AS n";
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, [1.into()]);
    let row = db.query_one_raw(statement).await?.unwrap();
    row.try_get("", "n")
}

/// Before 1.21 a statement is prepared in one session and executed in another, with sqlx's cache and
/// without it.
#[tokio::test]
async fn a_pooler_follows_prepared_statements_from_1_21_on() {
    let database = Database::plain().await;
    for parameters in ["", "&statement-cache-capacity=0"] {
        let (_pooler, db) = pooled(&database, parameters).await;
        let answer = prepared(&db).await;
        if PgBouncer::follows_prepared_statements() {
            assert_eq!(answer.unwrap(), 2);
        } else {
            let error = answer.unwrap_err().to_string();
            assert!(error.contains("does not exist"), "{error}");
        }
    }
}

/// Which is what everybody does who emits.
#[tokio::test]
async fn a_transaction_without_a_statement_cache_works_behind_any_pooler() {
    let database = Database::hostile().await;
    let cache = match PgBouncer::follows_prepared_statements() {
        true => "",
        false => "&statement-cache-capacity=0",
    };
    let (pooler, first) = pooled(&database, cache).await;
    let second = database.open_through(pooler.port(), cache, 1).await;
    for round in 0..6 {
        for db in [&first, &second] {
            let txn = db.begin().await.unwrap();
            assert_eq!(prepared(&txn).await.unwrap(), 2);
            let event = Thing::said(&format!("round {round}."));
            database.outbox.emit(&txn, event).await.unwrap();
            txn.commit().await.unwrap();
        }
    }
    let count = "SELECT count(*) AS n FROM \"outbox_event\"";
    assert_eq!(database.number(count).await, 12);
}
