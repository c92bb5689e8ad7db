use super::{micros, statements::Statements, wait};
use crate::schema::Names;
use std::{fmt::Write, time::Duration};

#[test]
fn statements_have_the_names_of_the_outbox() {
    let names = Names::new("b_".to_owned(), Some("app".to_owned())).unwrap();
    let statements = Statements::new(&names);
    let mut text = String::new();
    for (name, sql) in statements.all() {
        writeln!(text, "{name}: {sql}").unwrap();
        assert!(!sql.contains('"'), "{sql}");
    }
    writeln!(text, "fetch: {}", statements.fetch(2, 1000)).unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn an_event_is_never_early_and_a_wait_never_negative() {
    assert_eq!(micros(Duration::from_nanos(1)), 1);
    assert_eq!(micros(Duration::MAX), micros(Duration::from_secs(1 << 40)));
    assert_eq!(wait(-5), Duration::ZERO);
    assert_eq!(wait(5), Duration::from_micros(5));
}
