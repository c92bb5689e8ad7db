use super::{super::tests::event, Table, insert};
use crate::schema::Names;
use chrono::{DateTime, Utc};
use outbox_core::{Due, NewEvent};
use sea_orm::{DbBackend, StatementBuilder};
use std::{fmt::Write, time::Duration};

/// The SQL text and the bound values on each database.
fn render(names: &Names, table: Table, events: &[NewEvent]) -> String {
    let mut text = String::new();
    for backend in [DbBackend::Postgres, DbBackend::MySql, DbBackend::Sqlite] {
        let statement = insert(backend, names, table, events.to_vec());
        let built = StatementBuilder::build(&statement, &backend);
        writeln!(text, "{backend:?}: {}", built.sql).unwrap();
        for value in built.values.unwrap().0 {
            writeln!(text, "    {value:?}").unwrap();
        }
    }
    text
}

#[test]
fn an_event_is_one_row() {
    insta::assert_snapshot!(render(&Names::default(), Table::Event, &[event("{}")]));
}

#[test]
fn a_delay_is_added_to_the_clock_of_the_database() {
    let mut delayed = event("{}");
    delayed.due = Due::After(Duration::from_nanos(1_500_000_001));
    assert_eq!(Table::of(&delayed), Table::Delayed);
    insta::assert_snapshot!(render(&Names::default(), Table::Delayed, &[delayed]));
}

#[test]
fn a_due_time_is_bound() {
    let mut delayed = event("{}");
    delayed.due = Due::At(time("2027-01-01T00:00:00.5Z"));
    insta::assert_snapshot!(render(&Names::default(), Table::Delayed, &[delayed]));
}

#[test]
fn names_are_quoted_and_several_events_are_one_statement() {
    let names = Names::new("o\"ut`".to_owned(), Some("app-1".to_owned())).unwrap();
    insta::assert_snapshot!(render(&names, Table::Event, &[event("1"), event("2")]));
}

fn time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}
