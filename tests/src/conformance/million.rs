//! A large history is deleted beside those who emit. Too long for every run: each database has it as
//! an ignored test, `cargo nextest run -p outbox-tests --run-ignored only million`.

use super::{Actor, Harness, Thing};
use outbox_core::store::{Kept, Store};
use sea_orm::DbBackend;
use std::time::{Duration, Instant};

const ROWS: i64 = 1_000_000;

/// How long single emits take, sorted.
async fn emits<H: Harness>(harness: &H, number: usize) -> Vec<Duration> {
    let mut took = Vec::new();
    for _ in 0..number {
        let began = Instant::now();
        harness.emit(Thing::said("one")).await;
        took.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    took.sort_unstable();
    took
}

fn told(took: &[Duration]) -> String {
    let part = |percent: usize| took[(took.len() - 1) * percent / 100];
    format!(
        "median {:?}, 99 % {:?}, longest {:?}",
        part(50),
        part(99),
        part(100)
    )
}

/// All of it goes, batch by batch, while emits come through. The figures are printed.
///
/// # Panics
/// When a row is left, or there are no tables.
pub async fn a_million_rows_go_beside_emitters<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let columns = "(seq, id, aggregatetype, aggregateid, topic, payload, headers, occurred_at, \
                   ordered, attempts, created_at, delivered_at)";
    let (id, series, then) = match tables.backend() {
        DbBackend::Postgres => (
            "gen_random_uuid()",
            format!("generate_series(1, {ROWS}) AS s (n)"),
            "now() - INTERVAL '60 days'",
        ),
        DbBackend::MySql => (
            "UNHEX(MD5(n))",
            format!("(SELECT seq AS n FROM seq_1_to_{ROWS}) AS s"),
            "UTC_TIMESTAMP(6) - INTERVAL 60 DAY",
        ),
        _ => (
            "randomblob(16)",
            format!(
                "(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {ROWS}) \
                 SELECT n FROM c)"
            ),
            "'2026-01-01T00:00:00.000+00:00'",
        ),
    };
    let json = match tables.backend() {
        DbBackend::Postgres => "'{\"a\": 1}'::jsonb",
        _ => "'{\"a\": 1}'",
    };
    let sql = format!(
        "INSERT INTO \"outbox_delivered\" {columns} SELECT n, {id}, 'order', n % 1000, 'order.placed', \
         {json}, {json}, {then}, TRUE, 0, {then}, {then} FROM {series}"
    );
    tables
        .run(&sql.replace("n % 1000", "CAST(n % 1000 AS CHAR(10))"))
        .await;
    let before = emits(harness, 500).await;
    println!("{:?}, emits alone: {}", tables.backend(), told(&before));

    let store = harness.store();
    let pruning = async {
        let (mut batches, mut longest, began) = (0, Duration::ZERO, Instant::now());
        loop {
            let batch = Instant::now();
            let month = Duration::from_secs(30 * 24 * 3_600);
            let rows = store.prune(Kept::Delivered, month, 1_000).await.unwrap();
            let took = batch.elapsed();
            (batches, longest) = (batches + 1, longest.max(took));
            if rows < 1_000 {
                break;
            }
            tokio::time::sleep(took).await;
        }
        println!(
            "{batches} batches in {:?}, the longest {longest:?}",
            began.elapsed()
        );
    };
    let ((), beside) = tokio::join!(pruning, emits(harness, 500));
    println!("emits beside it: {}", told(&beside));
    assert!(harness.delivered().await.is_empty());
    assert_eq!(Actor::owner(harness).await.fetch().await.rows.len(), 1_000);
}
