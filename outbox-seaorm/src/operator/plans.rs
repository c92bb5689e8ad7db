//! How the databases run what operators ask: by key, whatever the size of the tables.

use super::{SCAN, letters, row, text::statement};
use crate::schema::{self, Names};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement,
};

/// The statements that look at tables which may be large, with parameters as they are written.
fn questions(backend: DbBackend) -> Vec<(&'static str, String, &'static str)> {
    let table = |sql: &str, table: &str, key: &str| {
        let sql = sql.replace("{table}", table).replace("{key}", key);
        sql.replace("{attempts}", "0")
    };
    let prune = |name, key, time, and| {
        let sql = match backend {
            DbBackend::Postgres => include_str!("sql/prune_postgres.sql"),
            _ => include_str!("sql/prune_sqlite.sql"),
        };
        let sql = table(sql, name, key).replace("{time}", time);
        sql.replace("{and}", and)
    };
    let id = "'00000000-0000-0000-0000-000000000001'";
    let end = include_str!("sql/page_end.sql");
    let place = include_str!("sql/sample_place.sql");
    let places = place.replace("{place}", "$3") + &place.replace("{place}", "$4");
    let sample = include_str!("sql/sample.sql").replace("{places}", &places);
    let heads = (0..64).map(|shard| (shard, 10)).collect();
    let (looks, _) = letters::looks(&heads);
    let waiting = include_str!("sql/waiting_behind.sql").replace("{looks}", &looks);
    let heads: Vec<_> = (0..64).map(|shard| format!("{shard}, 10")).collect();
    let unblocked = "AND blocks_aggregate = FALSE";
    let any = "10, 5000, NULL, NULL, NULL";
    let questions: Vec<(&'static str, String, String)> = vec![
        (
            "end of letters",
            table(end, "outbox_dead", "seq"),
            "10, 9999".to_owned(),
        ),
        (
            "end of delayed",
            table(end, "outbox_delayed", "id"),
            format!("{id}, 9999"),
        ),
        (
            "letters",
            include_str!("sql/letters.sql").to_owned(),
            format!("{any}, NULL, NULL, FALSE, 100"),
        ),
        (
            "letter",
            include_str!("sql/letter.sql").to_owned(),
            "10".to_owned(),
        ),
        (
            "blocking",
            include_str!("sql/blocking.sql").to_owned(),
            "10, 5000, 100".to_owned(),
        ),
        (
            "waiting behind",
            waiting,
            format!("10, 210, 100, 156, {}", heads.join(", ")),
        ),
        (
            "scheduled",
            include_str!("sql/scheduled.sql").to_owned(),
            format!("{id}, {id}, NULL, NULL, NULL, 100"),
        ),
        (
            "failing",
            include_str!("sql/failing.sql").to_owned(),
            format!("{any}, 3, 100"),
        ),
        (
            "oldest",
            include_str!("sql/oldest.sql").to_owned(),
            String::new(),
        ),
        (
            "ends",
            table(include_str!("sql/ends.sql"), "outbox_event", "seq"),
            "10000".to_owned(),
        ),
        (
            "sample",
            table(&sample, "outbox_event", "seq"),
            "128, 512, 1, 20000".to_owned(),
        ),
        (
            "status",
            include_str!("sql/status.sql").to_owned(),
            id.to_owned(),
        ),
        (
            "expired",
            include_str!("sql/expired.sql").to_owned(),
            "1000, 100".to_owned(),
        ),
        (
            "to replay",
            include_str!("sql/replay_find.sql").to_owned(),
            format!("{any}, NULL, NULL, 100"),
        ),
        (
            "prune history",
            prune("outbox_delivered", "seq", "delivered_at", ""),
            "1, 100".to_owned(),
        ),
        (
            "prune letters",
            prune("outbox_dead", "seq", "dead_at", unblocked),
            "1, 100".to_owned(),
        ),
        (
            "prune record",
            prune("outbox_operation", "id", "done_at", ""),
            "1, 100".to_owned(),
        ),
        (
            "prune inbox",
            prune("outbox_inbox", row::whole(backend), "begun_at", ""),
            "1, 100".to_owned(),
        ),
        (
            "prune dedupe keys",
            prune("outbox_dedupe", "dedupe_key", "expires_at", ""),
            "1, 100".to_owned(),
        ),
    ];
    let render = |sql: &str| statement(backend, &Names::default(), sql, []).sql;
    let questions = questions.into_iter();
    questions
        .map(|(name, sql, values)| (name, render(&sql), &*values.leak()))
        .collect()
}

/// What a look passes, and rows that are looked up for each of them.
const FEW: f64 = 3.0 * SCAN as f64;

/// How many rows the scans of an executed plan have seen.
fn visited(plan: &[String]) -> f64 {
    let number = |text: &str| text.split([' ', ')']).next()?.parse::<f64>().ok();
    let (mut rows, mut loops) = (0.0, 1.0);
    for line in plan {
        if let Some((_, actual)) = line.split_once("(actual rows=") {
            loops = actual
                .split_once("loops=")
                .and_then(|(_, n)| number(n))
                .unwrap();
            if line.contains("Scan") {
                rows += number(actual).unwrap() * loops;
            }
        }
        if let Some(removed) = line.trim().strip_prefix("Rows Removed by Filter: ") {
            rows += number(removed).unwrap() * loops;
        }
    }
    rows
}

async fn explain(db: &DatabaseConnection, sql: String, column: &str) -> Vec<String> {
    let explain = Statement::from_string(db.get_database_backend(), sql);
    let rows = db.query_all_raw(explain).await.unwrap();
    let lines = rows.iter().map(|row| row.try_get("", column).unwrap());
    lines.collect()
}

#[tokio::test]
async fn sqlite_searches_by_key() {
    let db = Database::connect("sqlite::memory:").await.unwrap();
    schema::create(&db).await.unwrap();
    for (name, sql, _) in questions(DbBackend::Sqlite) {
        let plan = explain(&db, format!("EXPLAIN QUERY PLAN {sql}"), "detail").await;
        // In the order of the key, up to a limit.
        let ordered = ["oldest", "ends", "sample"].contains(&name);
        let own = |step: &str| {
            ["SCAN s", "SCAN b", "SCAN l", "SCAN h", "SCAN (subquery"]
                .iter()
                .any(|s| step.starts_with(s))
        };
        let bad = |step: &&String| {
            (step.starts_with("SCAN") && !ordered && !own(step))
                || step.contains("TEMP B-TREE FOR ORDER BY")
        };
        assert_eq!(plan.iter().find(bad), None, "{name}: {plan:?}");
    }
}

#[tokio::test]
async fn postgresql_searches_by_key() {
    let url = std::env::var("OUTBOX_TEST_POSTGRES_URL")
        .expect("OUTBOX_TEST_POSTGRES_URL is not set: run these tests with ./tests/run");
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    let db = Database::connect(options).await.unwrap();
    let name = format!("asked{}", uuid::Uuid::now_v7().simple());
    let run = async |sql: &str| db.execute_unprepared(sql).await.unwrap();
    run(&format!("CREATE SCHEMA {name}; SET search_path = {name}")).await;
    schema::create(&db).await.unwrap();
    let columns = "id, aggregatetype, aggregateid, topic, payload";
    let values = "gen_random_uuid(), 'order', (n % 1000)::text, 't', '{}'::jsonb";
    let rows = "FROM generate_series(1, 40000) AS n";
    let more = "headers, occurred_at, ordered, attempts, created_at";
    let mores = "'{}'::jsonb, now(), true, 0, now()";
    for sql in [
        format!("INSERT INTO outbox_event ({columns}) SELECT {values} {rows}"),
        format!("INSERT INTO outbox_delayed ({columns}, due_at) SELECT {values}, now() {rows}"),
        format!(
            "INSERT INTO outbox_delivered (seq, {columns}, {more}) SELECT n, {values}, {mores} {rows}"
        ),
        format!(
            "INSERT INTO outbox_dead (seq, {columns}, {more}, last_error, reason, blocks_aggregate) \
             SELECT n, {values}, {mores}, 'x', 'exhausted', n % 2 = 0 {rows}"
        ),
        format!(
            "INSERT INTO outbox_operation (id, act, who, why) \
             SELECT gen_random_uuid(), 'retry', 'x', 'y' {rows}"
        ),
        format!(
            "INSERT INTO outbox_inbox (consumer, event_id, replay_id, claim, begun_at) \
             SELECT 'c', u, u, u, now() FROM (SELECT gen_random_uuid() AS u {rows}) AS i"
        ),
        format!(
            "INSERT INTO outbox_dedupe (dedupe_key, event_id, expires_at) \
             SELECT n::text, gen_random_uuid(), now() {rows}"
        ),
    ] {
        run(&sql).await;
    }
    for situation in ["no statistics", "fresh statistics"] {
        for (name, sql, values) in questions(DbBackend::Postgres) {
            let values = match values {
                "" => String::new(),
                values => format!("({values})"),
            };
            run(&format!("PREPARE asked AS {sql}")).await;
            for mode in ["force_custom_plan", "force_generic_plan"] {
                run(&format!("SET plan_cache_mode = {mode}")).await;
                let sql = format!("EXPLAIN (COSTS OFF) EXECUTE asked {values}");
                let plan = explain(&db, sql, "QUERY PLAN").await.join("\n");
                assert!(
                    !plan.contains("Seq Scan on outbox_"),
                    "{situation}, {name}: {plan}"
                );
                run("BEGIN").await;
                let options = "ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF";
                let sql = format!("EXPLAIN ({options}) EXECUTE asked {values}");
                let plan = explain(&db, sql, "QUERY PLAN").await;
                run("ROLLBACK").await;
                let rows = visited(&plan);
                assert!(rows < FEW, "{situation}, {name}: {rows} rows, {plan:#?}");
            }
            run("DEALLOCATE asked").await;
        }
        run("ANALYZE outbox_event; ANALYZE outbox_delayed; ANALYZE outbox_delivered").await;
        run("ANALYZE outbox_dead; ANALYZE outbox_operation").await;
        run("ANALYZE outbox_inbox; ANALYZE outbox_dedupe").await;
    }
}
