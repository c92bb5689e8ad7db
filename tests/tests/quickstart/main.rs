//! The quickstart example from end to end, as a process that is killed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure here is a failed test"
)]

mod program;
mod tables;

use program::{Finished, SHIPPED, Shop};

/// What the shipped file comes to, whatever happens on the way.
const LAST_LINE: &str = "delivered 842 of 843 events, 0 lost, 1 dead";

/// The shipped file's orders that keep the rules; 6 are refused, and one is sent twice.
const ORDERS: i64 = 299;

async fn assert_all_done(shop: &Shop, finished: &Finished) {
    assert_eq!(finished.status, Some(0), "{finished}");
    assert_eq!(finished.last_line(), LAST_LINE, "{finished}");
    let tables = shop.tables().await;
    assert_eq!(tables.count("orders", "TRUE").await, ORDERS);
    assert_eq!(tables.repeated_effects().await, 0, "no effect twice");
    assert_eq!(tables.effects_without_order().await, 0);
    assert_eq!(tables.count("outbox_event", "TRUE").await, 0);
    assert_eq!(tables.count("outbox_dead", "topic = 'order.ship'").await, 1);
}

#[tokio::test]
async fn delivers_the_shipped_orders() {
    let shop = Shop::new();
    let finished = shop.run(&[]);
    assert_all_done(&shop, &finished).await;
    assert!(
        finished
            .stderr
            .contains("299 orders imported, 1 known already, 6 refused")
    );

    let tables = shop.tables().await;
    let large = tables
        .count("charges", "amount = 9223372036854775807")
        .await;
    assert_eq!(large, 1, "an amount beyond 2^53 arrives exactly");
    let greylisted = tables.count("outbox_delivered", "attempts > 0").await;
    assert!(greylisted > 0, "a mail was refused at first");
}

#[tokio::test]
async fn second_run_does_nothing_new() {
    let shop = Shop::new();
    let first = shop.run(&[]);
    let second = shop.run(&[]);
    assert_all_done(&shop, &second).await;
    assert_eq!(first.stdout, second.stdout);
    assert!(
        second
            .stderr
            .contains("0 orders imported, 300 known already"),
        "{second}"
    );
}

#[tokio::test]
async fn one_connection_is_enough() {
    let shop = Shop::new();
    let finished = shop.run(&["--connections", "1"]);
    assert_all_done(&shop, &finished).await;
}

#[tokio::test]
async fn killed_during_the_import() {
    let shop = Shop::new();
    let lines: Vec<&str> = SHIPPED.lines().collect();
    let (first, second) = lines.split_at(150);
    let mut running = shop.start(&["--input", "-"]);
    running.write(first);
    running.wait_for("events delivered");
    running.write(second);
    running.kill();
    let rest = shop.run(&[]);
    assert_all_done(&shop, &rest).await;
}

#[tokio::test]
async fn killed_while_handlers_run() {
    let shop = Shop::new();
    let mut running = shop.start(&["--latency", "100"]);
    running.wait_for("events delivered");
    running.kill();
    let rest = shop.run(&[]);
    assert_all_done(&shop, &rest).await;
    assert!(rest.stderr.contains("waiting for its lease"), "{rest}");
}

#[tokio::test]
async fn killed_again_and_again() {
    let shop = Shop::new();
    for _ in 0..4 {
        let mut running = shop.start(&["--latency", "300"]);
        running.wait_for("events delivered");
        // Only a change is said: handlers run by now.
        running.wait_for("events delivered");
        running.kill();
    }
    let rest = shop.run(&[]);
    assert_all_done(&shop, &rest).await;
}

#[tokio::test]
async fn killed_after_the_import_and_again_while_waiting() {
    let shop = Shop::new();
    let mut running = shop.start(&["--latency", "300"]);
    running.wait_for("orders imported");
    running.kill();
    let mut waiting = shop.start(&[]);
    waiting.wait_for("waiting for its lease");
    waiting.kill();
    let rest = shop.run(&[]);
    assert_all_done(&shop, &rest).await;
}

#[cfg(unix)]
#[tokio::test]
async fn sigterm_stops_gracefully() {
    let shop = Shop::new();
    let mut running = shop.start(&["--latency", "100"]);
    running.wait_for("events delivered");
    running.terminate();
    let stopped = running.finish();
    assert_eq!(stopped.status, Some(130), "{stopped}");
    assert_eq!(stopped.stdout, "");
    let rest = shop.run(&[]);
    assert_all_done(&shop, &rest).await;
    assert!(
        !rest.stderr.contains("waiting for its lease"),
        "it was given back: {rest}"
    );
}

#[tokio::test]
async fn malformed_lines_are_named_and_the_rest_goes_on() {
    let shop = Shop::new();
    let good = r#"{"id":"Ж-1","customer":"Жанна","mail":"z@example.org","country":"BG","currency":"EUR","amount":5}"#;
    let nul = r#"{"id":"N-1","customer":"a\u0000b","mail":"z@example.org","country":"BG","currency":"EUR","amount":5}"#;
    let mut running = shop.start(&["--input", "-"]);
    running.write(&["{\"id\":", "", good, "[1, 2]", nul]);
    running.write_bytes(b"\xff\xfe\n{\"id\":\"no line feed at the end\"");
    let finished = running.finish();
    assert_eq!(finished.status, Some(0), "{finished}");
    assert_eq!(
        finished.last_line(),
        "delivered 3 of 3 events, 0 lost, 0 dead"
    );
    for line in ["line 1: ", "line 4: ", "line 5: ", "line 6: ", "line 7: "] {
        assert!(
            finished.stderr.contains(line),
            "{line} is named: {finished}"
        );
    }
    assert!(
        finished
            .stderr
            .contains("1 orders imported, 0 known already, 1 refused, 4 lines malformed")
    );
}

#[test]
fn input_without_a_single_order_is_an_error() {
    let shop = Shop::new();
    let mut running = shop.start(&["--input", "-"]);
    running.write(&["id,customer,amount", "1,Ada,5"]);
    let finished = running.finish();
    assert_eq!(finished.status, Some(2), "{finished}");
    assert_eq!(
        finished.last_line(),
        "delivered 0 of 0 events, 0 lost, 0 dead"
    );
}

#[test]
fn empty_input_is_fine() {
    let shop = Shop::new();
    let finished = shop.start(&["--input", "-"]).finish();
    assert_eq!(finished.status, Some(0), "{finished}");
}

#[test]
fn missing_input_is_an_error() {
    let shop = Shop::new();
    let finished = shop.run(&["--input", "not-there.jsonl"]);
    assert_eq!(finished.status, Some(2), "{finished}");
    assert!(finished.stderr.contains("not-there.jsonl"), "{finished}");
}

#[tokio::test]
async fn lost_event_is_reported() {
    let shop = Shop::new();
    shop.run(&[]);
    shop.tables()
        .await
        .execute("DELETE FROM mails WHERE order_id = 'A-1001'")
        .await;
    let finished = shop.run(&[]);
    assert_eq!(finished.status, Some(1), "{finished}");
    assert_eq!(
        finished.last_line(),
        "delivered 841 of 843 events, 1 lost, 1 dead"
    );
}
