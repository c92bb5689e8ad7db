//! What an operator's acts excuse, and what they do not.

use super::*;
use std::collections::HashSet;

const DIED: &str = "e emitted x1
    e emitted x2
    d1 started x1 1 1
    d1 failed x1
    d1 started x1 1 2
    d1 dead x1
    o retried x1
    d1 started x1 1 1
    d1 failed x1
    d1 started x1 1 2
    d1 succeeded x1
    d1 started x2 2 1
    d1 succeeded x2";

#[test]
fn the_attempts_of_a_retried_letter_start_over() {
    assert_eq!(rules(DIED), []);
    let by_itself = DIED.replace("o retried x1\n", "");
    assert_eq!(rules(&by_itself), [Rule::AttemptsAreCounted]);
}

#[test]
fn a_retried_letter_is_waited_for() {
    let overtaken = DIED.replace(
        "o retried x1\n",
        "o retried x1
         d1 started x2 2 1
         d1 succeeded x2\n",
    );
    assert!(rules(&overtaken).contains(&Rule::InOrder));
    let forgotten = &DIED[..DIED.find("o retried x1\n").unwrap()];
    let lost = rules(&format!("{forgotten}o retried x1"));
    assert_eq!(lost, [Rule::NothingIsLost, Rule::NothingIsLost]);
}

#[test]
fn nobody_discards_what_was_not_emitted() {
    assert_eq!(rules("o discarded x1"), [Rule::NothingIsInvented]);
    let elsewhere = "e emitted x1
        o discarded y x1
        d1 started x1
        d1 succeeded x1";
    assert_eq!(rules(elsewhere), [Rule::NothingIsInvented], "not of y");
}

const DISCARDED: &str = "e emitted x1
    e emitted x2
    e emitted x3
    o discarded x2";

#[test]
fn only_the_discarded_event_may_be_missing() {
    let delivered = |events: &[&str]| {
        let deliveries = events
            .iter()
            .map(|event| format!("\nd1 started {event}\nd1 succeeded {event}"));
        rules(&format!("{DISCARDED}{}", deliveries.collect::<String>()))
    };
    assert_eq!(delivered(&["x1", "x3"]), []);
    assert_eq!(delivered(&["x1", "x2", "x3"]), [], "it came too late");
    assert_eq!(delivered(&["x1"]), [Rule::NothingIsLost], "of x3");
    let overtaken = [Rule::InOrder, Rule::NothingIsLost];
    assert_eq!(delivered(&["x3"]), overtaken, "of x1");
}

#[test]
fn a_discard_excuses_nothing_that_came_before_it() {
    let overtaken = "e emitted x1
        e emitted x2
        d1 started x2
        d1 succeeded x2
        o discarded x1";
    assert_eq!(rules(overtaken), [Rule::InOrder]);
}

/// What is wrong if the outbox has recorded that it took these events out.
fn recorded(script: &str, taken_out: &[&str]) -> Vec<Rule> {
    let emitted = taken_out
        .iter()
        .map(|event| record(&format!("e emitted {event}")));
    let ids: HashSet<_> = emitted.map(|record| record.id).collect();
    let (_, violations) = history(script).taken_out(&ids).examine();
    violations.iter().map(|violation| violation.rule).collect()
}

#[test]
fn a_discard_that_was_not_recorded_hides_no_loss() {
    let lost = "e emitted x1
        e emitted x2
        o discarded x1
        d1 started x2
        d1 succeeded x2";
    assert_eq!(recorded(lost, &["x1"]), []);
    let overtaken = [Rule::InOrder, Rule::NothingIsLost];
    assert_eq!(recorded(lost, &[]), overtaken);
    assert_eq!(recorded(lost, &["x2"]), overtaken, "another one was");
}

#[test]
fn a_discard_that_was_not_recorded_hides_no_lone_predecessor() {
    let lone = "e emitted x1
        e emitted x2
        d1 started x1
        d1 succeeded x1
        d1 started x2
        d1 succeeded x2
        o discarded x2
        d1 fault
        d2 started x1
        d2 succeeded x1";
    assert_eq!(recorded(lone, &["x2"]), []);
    assert_eq!(recorded(lone, &[]), [Rule::SuffixesRepeat]);
}
