//! How SQLite runs the statements that every delivery needs.

use super::{Sqlite, statement};
use crate::schema::Names;
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement};

async fn database() -> DatabaseConnection {
    let db = Database::connect("sqlite::memory:").await.unwrap();
    let ddl = include_str!("../../schema/sqlite.sql");
    let ddl = Names::default().render(DbBackend::Sqlite, ddl);
    db.execute_unprepared(&ddl).await.unwrap();
    db
}

async fn plan(db: &DatabaseConnection, sql: &str) -> Vec<String> {
    let explain = Statement::from_string(DbBackend::Sqlite, format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = db.query_all_raw(explain).await.unwrap();
    rows.iter()
        .map(|row| row.try_get("", "detail").unwrap())
        .collect()
}

/// Every step searches by a key: nothing is scanned but the parameters, nothing sorted.
async fn assert_searches(db: &DatabaseConnection) {
    let sql = Sqlite::new(&Names::default()).sql;
    let hot = [
        &sql.fence,
        &sql.fetch,
        &sql.read,
        &sql.keep,
        &sql.delete,
        &sql.retry,
        &sql.bury,
        &sql.delete_buried,
        &sql.raise_crashes,
        &sql.move_in,
        &sql.move_out,
        &sql.renew,
        &sql.take,
        &sql.shards,
    ];
    for sql in hot {
        for step in plan(db, sql).await {
            let parameter = step.starts_with("SCAN j VIRTUAL TABLE");
            let part_of_union = step.starts_with("SCAN (subquery");
            assert!(
                !step.starts_with("SCAN") || parameter || part_of_union,
                "{step}: {sql}"
            );
            assert!(!step.contains("TEMP B-TREE"), "{step}: {sql}");
        }
    }
    let fetch = plan(db, &sql.fetch).await;
    for range in ["(rowid>? AND rowid<?)", "(rowid>?)"] {
        let search = format!("SEARCH e USING INTEGER PRIMARY KEY {range}");
        assert!(fetch.contains(&search), "{fetch:?}");
    }
}

#[tokio::test]
async fn hot_statements_search_by_key() {
    assert_searches(&database().await).await;
}

/// Statistics gathered while the outbox was empty must not tempt the planner into scans.
#[tokio::test]
async fn hot_statements_search_by_key_with_stale_statistics() {
    let db = database().await;
    db.execute_unprepared(
        "INSERT INTO outbox_event (id, aggregatetype, topic, payload) \
         VALUES (zeroblob(16), 'a', 't', '{}'); \
         INSERT INTO outbox_delayed (id, aggregatetype, topic, payload, due_at) \
         VALUES (zeroblob(16), 'a', 't', '{}', ''); \
         ANALYZE outbox_event; ANALYZE outbox_delayed; DELETE FROM outbox_event;",
    )
    .await
    .unwrap();
    let statistics = "SELECT 1 AS one FROM sqlite_stat1 WHERE tbl = 'outbox_delayed'";
    let known = db.query_one_raw(statement(statistics, [])).await.unwrap();
    assert!(known.is_some());
    assert_searches(&db).await;
}
