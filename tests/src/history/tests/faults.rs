//! What a fault excuses, and what it does not; attempts and delayed events.

use super::*;

/// An event succeeds around a fault `#1` of its dispatcher, and comes again from another one.
fn repeated(before: &str, during: &str, after: &str) -> Vec<Rule> {
    rules(&format!(
        "e emitted x1
        d1 started x1
        {before}
        d1 outage #1
        {during}
        d1 surveyed #1
        d1 over #1
        {after}
        d2 started x1
        d2 succeeded x1"
    ))
}

#[test]
fn a_duplicate_is_explained_by_what_the_database_still_had() {
    let (success, unsettled) = ("d1 succeeded x1", "d1 unsettled #1 x1");
    let unexplained = [Rule::DuplicatesAreExplained];
    assert_eq!(repeated(success, unsettled, ""), []);
    assert_eq!(
        repeated(success, "", ""),
        unexplained,
        "it was written before"
    );
    assert_eq!(repeated("", success, ""), [], "within the fault");
    assert_eq!(repeated("", "", success), unexplained, "after it");
    let another = "d1 unsettled #1 y1";
    assert_eq!(repeated(success, another, ""), unexplained);
}

#[test]
fn an_outage_is_no_reason_to_work_on() {
    let together = |what: &str| {
        rules(&format!(
            "e emitted x1
            d1 started x1
            d1 {what} #1
            d2 started x1
            d2 succeeded x1
            d1 dropped x1
            d1 over #1"
        ))
    };
    assert_eq!(together("outage"), [Rule::OneAtATime]);
    assert_eq!(together("fault"), [], "it could not do anything");
}

#[test]
fn a_fault_that_is_over_excuses_nothing_more() {
    let over = "e emitted x1
        d1 fault #1
        d1 surveyed #1
        d1 over #1
        d1 started x1
        d2 started x1
        d2 succeeded x1
        d1 succeeded x1";
    assert_eq!(rules(over), [Rule::OneAtATime]);
}

#[test]
fn what_befalls_all_befalls_each() {
    let twice = "e emitted x1
        d1 started x1
        d1 succeeded x1
        * outage #1
        * unsettled #1 x1
        * surveyed #1
        d2 started x1
        d2 succeeded x1";
    assert_eq!(rules(twice), []);
}

#[test]
fn a_stall_within_a_fault_is_nothing_new() {
    let stall = format!("fault d1 stall-1 {}", Uuid::nil());
    let mut records: Vec<_> = history(
        "e emitted x1
        d1 started x1
        d1 succeeded x1
        d1 fault #1
        d1 surveyed #1",
    )
    .records()
    .to_vec();
    records.push(stall.parse().unwrap());
    records.extend(history("d2 started x1\nd2 succeeded x1").records().to_vec());
    let broken = records
        .into_iter()
        .collect::<History>()
        .check()
        .unwrap_err();
    assert_eq!(broken[0].rule, Rule::DuplicatesAreExplained);
}

#[test]
fn failures_are_counted_once_each() {
    let told = |between: &str, attempt: u32| {
        rules(&format!(
            "e emitted x1
            d1 started x1 1 1
            {between}
            d1 started x1 1 {attempt}
            d1 succeeded x1"
        ))
    };
    let miscounted = [Rule::AttemptsAreCounted];
    assert_eq!(told("d1 failed x1", 2), []);
    assert_eq!(told("d1 failed x1", 1), miscounted, "forgotten");
    assert_eq!(told("d1 failed x1", 3), miscounted, "counted twice");
    assert_eq!(told("d1 dropped x1", 1), []);
    assert_eq!(told("d1 dropped x1", 2), miscounted, "burnt");
    let at_a_fault = "d1 fault #1
        d1 failed x1";
    assert_eq!(told(at_a_fault, 1), [], "never written");
    assert_eq!(told(at_a_fault, 2), []);
    assert_eq!(told(at_a_fault, 3), miscounted);
    let frozen = "d1 fault #1
        d1 dropped x1";
    assert_eq!(told(frozen, 2), [], "its time ran out meanwhile");
    let cut_off = "d1 outage #1
        d1 dropped x1";
    assert_eq!(told(cut_off, 2), miscounted, "burnt");
}

#[test]
fn the_first_attempt_is_the_first() {
    let second = "e emitted x1
        d1 started x1 1 2
        d1 succeeded x1";
    assert_eq!(rules(second), [Rule::AttemptsAreCounted]);
}

#[test]
fn a_delayed_event_has_its_place_from_when_it_is_due() {
    let due = |second: &str| {
        rules(&format!(
            "e delayed x1
            e emitted x2
            e delayed x3
            d1 started x2 1 1
            d1 succeeded x2
            d1 started x1 2 1
            d1 failed x1
            {second}
            d1 started x1 2 2
            d1 succeeded x1"
        ))
    };
    assert_eq!(due(""), [Rule::NothingIsLost], "of the other one");
    let overtaken = "d1 started x3 3 1
        d1 succeeded x3";
    assert_eq!(
        due(overtaken),
        [Rule::InOrder],
        "what has started keeps its place"
    );
    let late = "e delayed x1
        e delayed x2
        d1 started x1 9 1
        d1 succeeded x1
        d1 started x2 8 1
        d1 succeeded x2";
    assert_eq!(rules(late), [Rule::InOrder]);
}

#[test]
fn positions_grow_along_the_events() {
    let positions = |first: u32, second: u32| {
        rules(&format!(
            "e emitted x1
            e emitted x2
            d1 started x1 {first} 1
            d1 succeeded x1
            d1 started x2 {second} 1
            d1 succeeded x2"
        ))
    };
    assert_eq!(positions(3, 8), []);
    assert_eq!(positions(8, 3), [Rule::InOrder]);
}

#[test]
fn what_was_given_up_makes_way() {
    let dead = "e emitted x1
        e emitted x2
        d1 started x1 1 1
        d1 dead x1
        d1 started x2 2 1
        d1 succeeded x2";
    assert_eq!(rules(dead), []);
}

#[test]
fn a_handler_that_takes_too_long_has_failed() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(&directory.path().join("log"), "d1");
    let id = Uuid::from_u128(7);
    drop(log.started("x", id).limit(std::time::Duration::ZERO));
    drop(
        log.started("x", id)
            .limit(std::time::Duration::from_secs(60)),
    );
    let last = log.started("x", id).last(true);
    last.failed();
    let what: Vec<_> = log
        .history()
        .records()
        .iter()
        .map(|record| record.what)
        .collect();
    use What::{Dead, Dropped, Failed, Started};
    assert_eq!(what, [Started, Failed, Started, Dropped, Started, Dead]);
}
