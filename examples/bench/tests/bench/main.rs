//! Every case with a handful of events on every database: the program does not rot. What it
//! measures is nothing here.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod program;

use program::Output;
use serde_json::Value;
use std::collections::BTreeSet;

/// The cases that measure in turn with plain SQL.
const COMPARED: [&str; 3] = ["emit", "emit-all", "drain"];
const CASES: [&str; 6] = ["emit", "emit-all", "drain", "latency", "backlog", "memory"];

fn measure(url: &str) -> Output {
    const FEW: &str = "--events 40 --keys 5 --batch 10 --clients 2 --waiting 100 --runs 1";
    let output = program::run(CASES.into_iter().chain(FEW.split(' ')), url);
    assert!(output.success, "{}", output.errors);
    let results = output.results();
    for result in &results {
        assert!(result["value"].as_f64().unwrap() >= 0.0, "{result}");
        assert!(
            result["unit"].is_string() && result["settings"].is_object(),
            "{result}"
        );
    }
    let cases = |subject: &str| -> BTreeSet<_> {
        let of_subject = results.iter().filter(|result| result["subject"] == subject);
        of_subject
            .map(|result| result["case"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        cases("outbox-seaorm"),
        BTreeSet::from(CASES.map(str::to_owned))
    );
    let compared = cases("reference");
    assert!(
        COMPARED.iter().all(|case| compared.contains(*case)),
        "{compared:?}"
    );
    assert!(output.text.contains("| case"), "{}", output.text);
    output
}

fn url(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run these tests with ./tests/run"))
}

#[test]
fn it_measures_on_sqlite_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.db");
    measure(&format!("sqlite://{}", file.display()));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn it_measures_on_postgres() {
    let output = measure(&url("OUTBOX_TEST_POSTGRES_URL"));
    let raw = |result: &Value| result["settings"]["reference"] == "raw NOTIFY";
    assert!(output.results().iter().any(raw), "{}", output.text);
}

#[test]
fn it_measures_on_mariadb() {
    measure(&url("OUTBOX_TEST_MARIADB_URL"));
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let sqlite = "sqlite://nowhere/bench.db";
    for (arguments, url, reason) in [
        (
            "drain",
            "oracle://host",
            "must start with postgres:, mysql: or sqlite:",
        ),
        (
            "drain --events 10 --keys 11",
            sqlite,
            "there are only 10 events",
        ),
        ("drain --payload 5", sqlite, "43 to 1048576 bytes"),
        ("drain --runs 0", sqlite, "--runs"),
        ("fly", sqlite, "possible values: emit"),
        ("", sqlite, "<CASE>"),
        (
            "drain",
            "sqlite://nowhere/bench.db",
            "unable to open database file",
        ),
    ] {
        let words = arguments.split(' ').filter(|word| !word.is_empty());
        let output = program::run(words, url);
        assert!(!output.success, "{arguments}");
        assert!(
            output.errors.contains(reason),
            "{arguments}: {}",
            output.errors
        );
    }
}
