//! How PostgreSQL runs the statements that every delivery needs, on the private server that
//! `./tests/run` starts.

use super::Postgres;
use crate::schema::{self, Names, postgres::COLUMNS};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement,
};

/// A schema of its own with the tables, on one connection.
async fn database() -> DatabaseConnection {
    let url = std::env::var("OUTBOX_TEST_POSTGRES_URL")
        .expect("OUTBOX_TEST_POSTGRES_URL is not set: run these tests with ./tests/run");
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    let db = Database::connect(options).await.unwrap();
    let name = format!("plans{}", uuid::Uuid::now_v7().simple());
    run(
        &db,
        &format!("CREATE SCHEMA {name}; SET search_path = {name}"),
    )
    .await;
    schema::create(&db).await.unwrap();
    // Statistics are what this is about: nobody but the test makes any.
    for table in TABLES {
        let sql = format!("ALTER TABLE {table} SET (autovacuum_enabled = off)");
        run(&db, &sql).await;
    }
    db
}

/// Those of which the statements below plan.
const TABLES: [&str; 6] = [
    "outbox_event",
    "outbox_delayed",
    "outbox_dead",
    "outbox_delivered",
    "outbox_shard",
    "outbox_dispatcher",
];

async fn run(db: &DatabaseConnection, sql: &str) {
    db.execute_unprepared(sql).await.unwrap();
}

/// Adds events and delayed events, of this many aggregates.
async fn add(db: &DatabaseConnection, rows: u32, aggregates: u32) {
    let columns = "(id, aggregatetype, aggregateid, topic, payload";
    let values =
        format!("SELECT gen_random_uuid(), 'order', (n % {aggregates})::text, 't', '{{\"n\": 1}}'");
    let rows = format!("FROM generate_series(1, {rows}) AS n");
    let sql = format!(
        "INSERT INTO outbox_event {columns}) {values} {rows}; \
         INSERT INTO outbox_delayed {columns}, due_at) {values}, now() {rows}"
    );
    run(db, &sql).await;
}

/// The statements that every delivery needs, with parameters as PostgreSQL writes them.
fn hot(names: &Names) -> Vec<(&'static str, String, String)> {
    let sql = Postgres::new(names).sql;
    let list = |value: &dyn Fn(u32) -> String| {
        let values: Vec<_> = (1..=100).map(value).collect();
        format!("'{{{}}}'", values.join(","))
    };
    let member = "'00000000-0000-0000-0000-000000000001'";
    let shards = "'{1,2,3,4}', '{0,0,0,0}'";
    let (seqs, ids) = (
        list(&|n| (n * 7).to_string()),
        list(&|_| member[1..37].to_owned()),
    );
    let (zeros, words) = (list(&|_| "0".to_owned()), list(&|_| "x".to_owned()));
    let blocks = list(&|_| "t".to_owned());
    let retries = format!("{seqs}, {ids}, {zeros}, {words}");
    let dead = format!("{seqs}, {ids}, {words}, {words}, {blocks}, {zeros}");
    let done = format!("{member}, {shards}, {seqs}, {ids}");
    let all = format!("{done}, {retries}, {dead}, {zeros}");
    let (floors, scans) = ("'{10,10,10,10}'", "'{500,500,500,500}'");
    let limits = "'{100,100,100,100}'";
    vec![
        (
            "fetch",
            sql.fetch,
            format!("{member}, {shards}, {floors}, {scans}, {limits}, 1000"),
        ),
        ("read", sql.read, format!("{seqs}, 1000")),
        ("settle_done", sql.settle_done, done.clone()),
        ("settle_done_kept", sql.settle_done_kept, done),
        ("settle", sql.settle, all.clone()),
        ("settle_kept", sql.settle_kept, all),
        ("claim", sql.claim, format!("700, {member}, '70000'")),
        (
            "complete",
            sql.complete,
            format!("{member}, 1, 0, 700, {member}"),
        ),
        (
            "complete_kept",
            sql.complete_kept,
            format!("{member}, 1, 0, 700, {member}"),
        ),
        (
            "mark_crashes",
            sql.mark_crashes,
            format!("{member}, 1, 0, {seqs}, {zeros}"),
        ),
        ("move_due", sql.move_due, format!("{member}, 1, 0, 100")),
        (
            "take",
            sql.take,
            format!("{member}, {shards}, {}", ids_of(4)),
        ),
        ("blocked", sql.blocked, "'{1,2,3}'".to_owned()),
    ]
}

fn ids_of(n: usize) -> String {
    format!(
        "'{{{}}}'",
        vec!["00000000-0000-0000-0000-000000000000"; n].join(",")
    )
}

/// Explains a prepared statement, once for these parameters and once for any.
async fn plan(db: &DatabaseConnection, options: &str, sql: &str, values: &str) -> Vec<String> {
    let mut lines = Vec::new();
    run(db, &format!("PREPARE hot AS {sql}")).await;
    for mode in ["force_custom_plan", "force_generic_plan"] {
        run(db, &format!("SET plan_cache_mode = {mode}")).await;
        lines.push(mode.to_owned());
        let explain = format!("EXPLAIN {options} EXECUTE hot ({values})");
        let explain = Statement::from_string(DbBackend::Postgres, explain);
        for row in db.query_all_raw(explain).await.unwrap() {
            lines.push(row.try_get("", "QUERY PLAN").unwrap());
        }
    }
    run(db, "DEALLOCATE hot").await;
    lines
}

async fn assert_plans(db: &DatabaseConnection, situation: &str) {
    for (name, sql, values) in hot(&Names::default()) {
        let plan = plan(db, "(COSTS OFF)", &sql, &values).await;
        let text = plan.join("\n");
        for table in ["event", "delayed"] {
            let scan = format!("Seq Scan on outbox_{table}");
            assert!(!text.contains(&scan), "{situation}, {name}: {text}");
        }
        assert!(
            !text.contains("Filter: (seq = ANY"),
            "{situation}, {name}: {text}"
        );
        // What is locked is sorted first: as many rows as the batch has. Nothing else is.
        let sorted = |line: &&String| line.trim_start().trim_start_matches("->").trim() == "Sort";
        let sorts = plan.iter().filter(sorted).count();
        let allowed = match name {
            "fetch" | "read" | "blocked" => 0,
            // The shards.
            "settle_done" | "settle_done_kept" => 2,
            _ => 6,
        };
        assert!(sorts <= allowed, "{situation}, {name}: {text}");
        if name == "move_due" {
            let ordered = text.contains("Index Scan using outbox_delayed_due_idx");
            assert!(ordered, "{situation}: {text}");
        }
        if name == "fetch" {
            let scans = ["Index Scan", "Index Only Scan"].map(|scan| {
                let scan = format!("{scan} using outbox_event_shard_idx");
                text.matches(&scan).count()
            });
            assert_eq!(scans.iter().sum::<usize>(), 4, "{situation}: {text}");
        }
    }
}

#[tokio::test]
async fn hot_statements_search_by_key_whatever_the_statistics_say() {
    let db = database().await;
    // Not those of the tests beside this one too, which have locks that it would wait for.
    run(&db, &format!("ANALYZE {}", TABLES.join(", "))).await;
    add(&db, 30_000, 1000).await;
    assert_plans(&db, "no statistics").await;
    run(&db, "ANALYZE outbox_event; ANALYZE outbox_delayed").await;
    assert_plans(&db, "fresh statistics").await;
    for rows in [1, 2, 3, 20, 500] {
        run(&db, "TRUNCATE outbox_event, outbox_delayed").await;
        add(&db, rows, 1).await;
        run(&db, "VACUUM ANALYZE outbox_event").await;
        run(&db, "VACUUM ANALYZE outbox_delayed").await;
        add(&db, 30_000, 1000).await;
        assert_plans(&db, &format!("statistics of {rows} rows")).await;
    }
}

/// What a fetch reads does not grow with the backlog, also where that is all in one shard.
/// The most pages that a step of a plan has read, beside what planning took.
fn pages(plan: &[String]) -> u32 {
    let steps = plan.iter().skip(1).zip(plan);
    let executed = steps.filter(|(_, before)| before.trim() != "Planning:");
    let hits = executed.filter_map(|(line, _)| {
        let hits = line.trim().strip_prefix("Buffers: shared hit=")?;
        Some(hits.split(' ').next()?.parse().unwrap())
    });
    hits.max().expect("a step that reads")
}

#[tokio::test]
async fn a_fetch_reads_its_own_rows() {
    let db = database().await;
    add(&db, 1, 1).await;
    run(&db, "VACUUM ANALYZE outbox_event").await;
    add(&db, 30_000, 1).await;
    let member = "00000000-0000-0000-0000-000000000001";
    run(&db, &format!("UPDATE outbox_shard SET owner = '{member}'")).await;
    let sql = "SELECT shard FROM outbox_event LIMIT 1";
    let row = db
        .query_one_raw(Statement::from_string(DbBackend::Postgres, sql))
        .await;
    let shard: i16 = row.unwrap().unwrap().try_get("", "shard").unwrap();
    let sql = Postgres::new(&Names::default()).sql.fetch;
    for (floor, scan) in [(15_000, 15_000), (15_000, 15_100), (0, 0), (29_900, 30_001)] {
        let values = format!(
            "'{member}', '{{{shard}}}', '{{0}}', '{{{floor}}}', '{{{scan}}}', '{{50}}', 1000"
        );
        let options = "(ANALYZE, BUFFERS, COSTS OFF, TIMING OFF)";
        // The least of a few: where others create tables, a session's caches are emptied, and what
        // it then reads of the catalogue counts as the statement's.
        let mut least = u32::MAX;
        for _ in 0..5 {
            least = least.min(pages(&plan(&db, options, &sql, &values).await));
        }
        assert!(least < 50, "{floor} {scan}: {least} pages");
    }
}

/// With a schema for each tenant there are thousands of tables of a name: where to look is asked once,
/// and not for each of them.
#[tokio::test]
async fn tables_are_looked_for_in_one_place() {
    let db = database().await;
    let values = "'outbox_event', 'r,p', NULL";
    let plan = plan(&db, "(COSTS OFF)", COLUMNS, values).await.join("\n");
    assert!(
        plan.contains("InitPlan") && !plan.contains("SubPlan"),
        "{plan}"
    );
}

/// A reader that took transaction ids would hold up its own proof, and write.
#[tokio::test]
async fn reading_takes_no_transaction_id() {
    let db = database().await;
    add(&db, 10, 10).await;
    run(&db, "SET default_transaction_read_only = on").await;
    let reading = ["fetch", "read", "blocked"];
    let hot = hot(&Names::default()).into_iter();
    for (name, sql, values) in hot.filter(|(name, ..)| reading.contains(name)) {
        run(&db, "BEGIN").await;
        run(
            &db,
            &format!("PREPARE reading AS {sql}; EXECUTE reading ({values})"),
        )
        .await;
        let asked = "SELECT pg_current_xact_id_if_assigned() IS NULL AS none";
        let asked = Statement::from_string(DbBackend::Postgres, asked);
        let row = db.query_one_raw(asked).await.unwrap().unwrap();
        assert!(row.try_get::<bool>("", "none").unwrap(), "{name}");
        run(&db, "COMMIT; DEALLOCATE reading").await;
    }
}
