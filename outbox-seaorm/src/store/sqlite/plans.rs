//! How SQLite runs the statements that every delivery needs.

use super::Sqlite;
use crate::schema::{self, Names};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement};

async fn database() -> DatabaseConnection {
    let db = Database::connect("sqlite::memory:").await.unwrap();
    schema::create(&db).await.unwrap();
    db
}

async fn plan(db: &DatabaseConnection, sql: &str) -> Vec<String> {
    let explain = Statement::from_string(DbBackend::Sqlite, format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = db.query_all_raw(explain).await.unwrap();
    rows.iter()
        .map(|row| row.try_get("", "detail").unwrap())
        .collect()
}

/// The statements that every delivery needs, and what runs while the outbox is idle.
async fn hot_plans(db: &DatabaseConnection) -> Vec<(String, Vec<String>)> {
    let sql = Sqlite::new(&Names::default()).sql;
    let hot = [
        sql.fence,
        sql.there,
        sql.claim,
        sql.fetch,
        sql.read,
        sql.keep,
        sql.delete,
        sql.retry,
        sql.bury,
        sql.delete_buried,
        sql.mark_crashes,
        sql.last_due,
        sql.move_in,
        sql.move_out,
        sql.renew,
        sql.take,
    ];
    let mut plans = Vec::new();
    for sql in hot {
        let plan = plan(db, &sql).await;
        plans.push((sql, plan));
    }
    plans
}

/// Whether a step reads what is not one of the statement's own lists.
fn scans_a_table(step: &str) -> bool {
    let own = ["VIRTUAL TABLE", "SCAN (subquery", "SCAN letter"];
    step.starts_with("SCAN") && !own.iter().any(|part| step.contains(part))
}

/// A database whose statistics say that each table has this many rows.
async fn analyzed(rows: usize) -> DatabaseConnection {
    let db = database().await;
    for _ in 0..rows {
        let sql = "INSERT INTO outbox_event (id, aggregatetype, topic, payload) \
            VALUES (randomblob(16), 'a', 't', '{}'); \
            INSERT INTO outbox_delayed (id, aggregatetype, topic, payload, due_at) \
            VALUES (randomblob(16), 'a', 't', '{}', '')";
        db.execute_unprepared(sql).await.unwrap();
    }
    db.execute_unprepared("ANALYZE").await.unwrap();
    db
}

#[tokio::test]
async fn hot_statements_search_by_key() {
    let db = database().await;
    for (sql, plan) in hot_plans(&db).await {
        let bad = |step: &String| scans_a_table(step) || step.contains("TEMP B-TREE");
        assert!(!plan.iter().any(bad), "{plan:?}: {sql}");
    }
    let sql = Sqlite::new(&Names::default()).sql.fetch;
    let range = "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
    let fetch = plan(&db, &sql).await;
    assert_eq!(fetch.iter().filter(|step| *step == range).count(), 2);
}

/// `ANALYZE` mostly meets an outbox that is nearly empty. Its statistics must not make SQLite sort
/// a backlog, nor scan it for each of a list.
#[tokio::test]
async fn statistics_of_a_small_outbox_do_no_harm() {
    for rows in [1, 2, 3, 5, 20, 100] {
        let db = analyzed(rows).await;
        for (sql, plan) in hot_plans(&db).await {
            assert!(
                !plan.iter().any(|step| step.contains("TEMP B-TREE")),
                "{rows} rows, {plan:?}: {sql}"
            );
            // Of a table with one or two rows SQLite never searches a range: one scan it is.
            let scans = plan.iter().filter(|step| scans_a_table(step)).count();
            let fetch = plan.iter().any(|step| step == "COMPOUND QUERY");
            let allowed = match rows {
                1 | 2 if fetch => 2,
                1 | 2 => 1,
                _ => 0,
            };
            assert!(scans <= allowed, "{rows} rows, {plan:?}: {sql}");
            let list = plan.iter().position(|step| step.contains("SCAN j VIRTUAL"));
            let nested =
                list.is_some_and(|list| plan[list..].iter().any(|step| scans_a_table(step)));
            assert!(!nested, "{rows} rows, {plan:?}: {sql}");
        }
    }
}
