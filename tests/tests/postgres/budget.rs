//! Large events that fall due together, by the memory of this process.

use super::harness::Postgres;
use outbox_core::{CancellationToken, Delivery, Dispatcher, HandlerError};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::{Harness, Thing};
use std::{fs, time::Duration};

/// A line of this process's status, in MiB.
fn resident(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let kib = lines.find_map(|text| text.strip_prefix(line)).unwrap();
    kib.split_whitespace()
        .next()
        .unwrap()
        .parse::<u64>()
        .unwrap()
        / 1024
}

/// How many MiB of memory it takes at most to deliver 200 events of this many bytes that have failed
/// once and fall due together.
async fn growth(bytes: usize, budget: usize, due_in: Duration) -> u64 {
    const ROWS: u64 = 200;
    let harness = Postgres::<false>::fresh().await;
    let sql = format!(
        "INSERT INTO outbox_event (id, aggregatetype, aggregateid, topic, payload, headers, attempts) \
         SELECT gen_random_uuid(), 'thing', n::text, 'thing.said', \
         jsonb_build_object('key', n::text, 'text', repeat('x', {bytes})), \
         '{{\"schema_version\": 3}}', 1 FROM generate_series(1, {ROWS}) AS n"
    );
    harness.0.execute(&sql, []).await;
    let seconds = due_in.as_secs();
    let sql = format!("UPDATE outbox_event SET retry_at = now() + INTERVAL '{seconds} s'");
    harness.0.execute(&sql, []).await;
    // From here on the highest mark counts anew.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = resident("VmRSS:");
    let dispatcher = Dispatcher::<SeaOrmStore>::builder(harness.store())
        .on_event(async |_: Thing, _: Delivery| Ok::<_, HandlerError>(()))
        .configure(|config| config.bytes = budget)
        .spawn(CancellationToken::new())
        .unwrap();
    while dispatcher.stats().delivered < ROWS {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let most = resident("VmHWM:");
    dispatcher.shutdown().await;
    println!("200 events of {bytes} bytes: {before} MiB before, {most} at most");
    most.saturating_sub(before)
}

#[tokio::test]
async fn large_events_that_fall_due_together_stay_within_the_budget() {
    let growth = growth(1_000_000, 8 * 1024 * 1024, Duration::from_secs(3)).await;
    assert!(growth < 64, "{growth} MiB");
}

#[tokio::test]
#[ignore = "2 GB go through the database"]
async fn two_hundred_events_of_ten_megabytes_stay_within_the_budget() {
    let growth = growth(10_000_000, 64 * 1024 * 1024, Duration::from_secs(60)).await;
    assert!(growth < 200, "{growth} MiB");
}
