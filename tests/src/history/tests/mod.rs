//! Histories that must be refused, one a rule, and those that must not.

mod faults;
mod operators;

use super::*;
use uuid::Uuid;

/// Reads a line such as `d1 started x3`: dispatcher, what, aggregate and number.
fn history(script: &str) -> History {
    let lines = script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.map(record).collect()
}

/// `d1 fault` and `d1 fault #1` are of a dispatcher, `d1 unsettled #1 x3` is of a fault, and
/// `d1 started x3 7 2` has a position and an attempt.
fn record(line: &str) -> Record {
    let id = |event: &str| {
        let (aggregate, number) = event.split_at(1);
        let high = u128::from(aggregate.as_bytes()[0]) << 64;
        Uuid::from_u128(high | number.parse::<u128>().unwrap())
    };
    match line.split(' ').collect::<Vec<_>>()[..] {
        [by, "fault"] => Record::fault(by),
        [by, what, fault] if fault.starts_with('#') => {
            let nil = Uuid::nil();
            format!("{what} {by} {fault} {nil}").parse().unwrap()
        }
        [by, what, fault, event] => format!("{what} {by} {fault} {}", id(event))
            .parse()
            .unwrap(),
        [by, what, event, ref rest @ ..] => {
            let (aggregate, id) = (&event[..1], id(event));
            let line = format!("{what} {by} {aggregate} {id} {}", rest.join(" "));
            line.trim_end().parse().unwrap()
        }
        _ => panic!("{line}"),
    }
}

fn rules(script: &str) -> Vec<Rule> {
    match history(script).check() {
        Ok(_) => Vec::new(),
        Err(violations) => violations.iter().map(|violation| violation.rule).collect(),
    }
}

#[test]
fn what_happened_as_it_should_is_counted() {
    let history = history(
        "e emitted x1
         d1 started x1
         e emitted y1
         d1 started y1
         d1 failed x1
         d1 started x1
         d1 succeeded x1
         d1 dead y1",
    );
    let report = history.check().unwrap();
    assert_eq!((report.events, report.starts, report.duplicates), (2, 3, 0));
    assert_eq!(history.settled(), 2);
}

#[test]
fn an_event_that_never_ended_well_is_lost() {
    assert_eq!(rules("e emitted x1"), [Rule::NothingIsLost]);
    let failed = "e emitted x1
        d1 started x1
        d1 failed x1";
    assert_eq!(rules(failed), [Rule::NothingIsLost]);
}

#[test]
fn a_rolled_back_event_is_not_delivered() {
    assert_eq!(
        rules(
            "d1 started x1
             d1 succeeded x1"
        ),
        [Rule::NothingIsInvented, Rule::EndsFollowStarts]
    );
}

#[test]
fn a_successor_waits_for_a_failed_event() {
    let overtaken = "e emitted x1
        e emitted x2
        d1 started x1
        d1 failed x1
        d1 started x2
        d1 succeeded x2
        d1 started x1
        d1 succeeded x1
        d1 started x2
        d1 succeeded x2";
    assert!(rules(overtaken).contains(&Rule::InOrder));
}

#[test]
fn a_lone_predecessor_does_not_come_again() {
    let lone = "e emitted x1
        e emitted x2
        d1 started x1
        d1 succeeded x1
        d1 started x2
        d1 succeeded x2
        d1 fault
        d2 started x1
        d2 succeeded x1";
    assert_eq!(rules(lone), [Rule::SuffixesRepeat]);
    let suffix = format!(
        "{lone}
        d2 started x2
        d2 succeeded x2"
    );
    assert_eq!(rules(&suffix), []);
    assert_eq!(history(&suffix).check().unwrap().duplicates, 2);
}

#[test]
fn a_repetition_leaves_nothing_out() {
    let gap = "e emitted x1
        e emitted x2
        e emitted x3
        d1 started x1
        d1 succeeded x1
        d1 started x2
        d1 succeeded x2
        d1 started x3
        d1 succeeded x3
        d1 fault
        d2 started x1
        d2 succeeded x1
        d2 started x3
        d2 succeeded x3";
    assert_eq!(rules(gap), [Rule::SuffixesRepeat]);
}

#[test]
fn two_are_not_in_work_together() {
    let together = |fault: &str| {
        format!(
            "e emitted x1
            d1 started x1
            {fault}
            d2 started x1
            d2 succeeded x1
            d1 succeeded x1"
        )
    };
    assert_eq!(rules(&together("")), [Rule::OneAtATime]);
    assert_eq!(rules(&together("d1 fault")), [], "a frozen one");
    assert_eq!(
        rules(&together("d2 fault")),
        [Rule::OneAtATime],
        "not its fault"
    );
}

#[test]
fn a_duplicate_needs_a_fault_of_who_delivered() {
    let twice = |fault: &str| {
        format!(
            "e emitted x1
            {fault}
            d1 started x1
            d1 succeeded x1
            d2 started x1
            d2 succeeded x1"
        )
    };
    assert_eq!(rules(&twice("")), [Rule::DuplicatesAreExplained]);
    assert_eq!(
        rules(&twice("d1 fault")),
        [Rule::DuplicatesAreExplained],
        "before its time"
    );
    let dropped = "e emitted x1
        d1 started x1
        d1 dropped x1
        d2 started x1
        d2 succeeded x1";
    assert_eq!(rules(dropped), [], "it had not succeeded");
}

#[test]
fn an_end_belongs_to_a_start() {
    let ended = "e emitted x1
        d1 started x1
        d1 succeeded x1
        d1 failed x1";
    assert_eq!(rules(ended), [Rule::EndsFollowStarts]);
}

#[test]
fn a_log_is_read_as_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(&directory.path().join("log"), "e");
    let id = Uuid::from_u128(7);
    log.emitted("x", id);
    let worker = log.by("d1");
    drop(worker.started("x", id));
    worker.started("x", id).failed();
    worker.fault();
    worker.started("x", id).succeeded();
    let what: Vec<_> = log
        .history()
        .records()
        .iter()
        .map(|record| record.what)
        .collect();
    use What::{Dropped, Emitted, Failed, Fault, Started, Succeeded};
    let expected = [
        Emitted, Started, Dropped, Started, Failed, Fault, Started, Succeeded,
    ];
    assert_eq!(what, expected);
    log.history().assert_clean();
}
