//! Large events, by the memory of this process: for tests that run alone in it.

use super::{Growth, Harness, Tables, Thing};
use outbox_core::{CancellationToken, Delivery, Dispatcher, HandlerError};
use sea_orm::DbBackend;
use std::time::Duration;

const ROWS: u32 = 200;

/// Two hundred of a megabyte, within a budget of eight.
///
/// # Panics
/// When the process grows by more than it may.
pub async fn large_events_that_fall_due_together_stay_within_the_budget<H: Harness>(harness: &H) {
    let growth = growth(harness, 1_000_000, 8 * MIB, Duration::from_secs(3)).await;
    assert!(growth < 64, "{growth} MiB");
}

/// Two hundred of ten megabytes, within the default budget: 2 GB go through the database.
///
/// # Panics
/// When the process grows by more than it may.
pub async fn two_hundred_events_of_ten_megabytes_stay_within_the_budget<H: Harness>(harness: &H) {
    let growth = growth(harness, 10_000_000, 64 * MIB, Duration::from_secs(60)).await;
    assert!(growth < 200, "{growth} MiB");
}

const MIB: usize = 1024 * 1024;

/// By how many MiB the process grows at most while the events are delivered, each of so many bytes, that
/// have failed once and fall due together.
async fn growth<H: Harness>(harness: &H, bytes: usize, budget: usize, due_in: Duration) -> u64 {
    let tables = harness.tables().unwrap();
    fill(&tables, bytes, due_in).await;
    let growth = Growth::begin();
    let dispatcher = Dispatcher::<H::Store>::builder(harness.store())
        .on_event(move |event: Thing, _: Delivery| {
            assert_eq!(event.text.len(), bytes);
            async { Ok::<_, HandlerError>(()) }
        })
        .configure(|config| config.bytes = budget)
        .spawn(CancellationToken::new())
        .unwrap();
    while dispatcher.stats().delivered < u64::from(ROWS) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let what = format!("{:?}, {ROWS} events of {bytes} bytes", tables.backend());
    let growth = growth.told(&what);
    dispatcher.shutdown().await;
    growth
}

/// The database makes them: this process has had no memory for them when its growth is measured.
async fn fill(tables: &Tables, bytes: usize, due_in: Duration) {
    let seconds = due_in.as_secs();
    let (id, object, text, series, due) = match tables.backend() {
        DbBackend::Postgres => (
            "gen_random_uuid()",
            "jsonb_build_object",
            format!("repeat('x', {bytes})"),
            format!("generate_series(1, {ROWS}) AS s (n)"),
            format!("now() + INTERVAL '{seconds} s'"),
        ),
        DbBackend::MySql => (
            "UNHEX(MD5(n))",
            "JSON_OBJECT",
            format!("REPEAT('x', {bytes})"),
            format!("(SELECT seq AS n FROM seq_1_to_{ROWS}) AS s"),
            format!("UTC_TIMESTAMP(6) + INTERVAL {seconds} SECOND"),
        ),
        _ => (
            "randomblob(16)",
            "json_object",
            format!("replace(hex(zeroblob({})), '0', 'x')", bytes / 2),
            format!(
                "(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {ROWS}) \
                 SELECT n FROM c)"
            ),
            format!("strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '+{seconds} seconds')"),
        ),
    };
    let key = "CAST(n AS CHAR(10))";
    let payload = format!("{object}('key', {key}, 'text', {text})");
    let headers = format!("{object}('schema_version', 3)");
    let columns = "id, aggregatetype, aggregateid, topic, payload, headers, attempts";
    let values = format!("{id}, 'thing', {key}, 'thing.said', {payload}, {headers}, 1");
    let insert = format!("INSERT INTO \"outbox_event\" ({columns}) SELECT {values} FROM {series}");
    tables.run(&insert).await;
    let due = format!("UPDATE \"outbox_event\" SET retry_at = {due}");
    tables.run(&due).await;
}
