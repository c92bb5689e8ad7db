//! The INSERT: the one statement an emit sends.

use super::lists;
use crate::{clock, schema::Names};
use outbox_core::{Due, NewEvent};
use sea_orm::{
    DbBackend,
    sea_query::{Expr, ExprTrait, InsertStatement, Query},
};

/// Where an event is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// `outbox_event`: to be delivered now.
    Event,
    /// `outbox_delayed`: to be delivered later; it gets its position when it falls due.
    Delayed,
}

const COLUMNS: [&str; 9] = [
    "id",
    "aggregatetype",
    "aggregateid",
    "topic",
    "payload",
    "headers",
    "occurred_at",
    "ordered",
    "due_at",
];

impl Table {
    pub(super) fn of(event: &NewEvent) -> Self {
        match event.due {
            Due::Now => Self::Event,
            Due::After(_) | Due::At(_) => Self::Delayed,
        }
    }

    /// What is bound, one value a column.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Event => &COLUMNS[..8],
            Self::Delayed => &COLUMNS,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Event => "outbox_event",
            Self::Delayed => "outbox_delayed",
        }
    }
}

/// Writes these events, in their order, to one table.
pub(super) fn insert(
    backend: DbBackend,
    names: &Names,
    table: Table,
    events: Vec<NewEvent>,
) -> InsertStatement {
    let mut statement = Query::insert();
    statement
        .into_table(names.table(table.name()))
        .columns(table.columns().iter().copied());
    if backend == DbBackend::Postgres && table == Table::Event && events.len() > 1 {
        // It fails only when the number of lists differs from that of the columns.
        #[expect(clippy::expect_used, reason = "both are written out in this folder")]
        statement
            .select_from(lists::select(events))
            .expect("a list for each column");
        return statement;
    }
    for event in events {
        // It fails only when the number of values differs from that of the columns.
        statement.values_panic(row(backend, event));
    }
    statement
}

fn row(backend: DbBackend, event: NewEvent) -> impl Iterator<Item = Expr> {
    let due = due(backend, event.due);
    [
        Expr::val(event.id),
        Expr::val(event.aggregate),
        Expr::val(event.key),
        Expr::val(event.topic),
        json(backend, event.payload),
        json(backend, event.headers),
        Expr::val(event.occurred_at.naive_utc()),
        Expr::val(event.ordered),
    ]
    .into_iter()
    .chain(due)
}

/// JSON goes as text: on its way through a `serde_json::Value` a large number becomes a float.
fn json(backend: DbBackend, text: String) -> Expr {
    match backend {
        DbBackend::Postgres => Expr::val(text).cast_as("jsonb"),
        _ => Expr::val(text),
    }
}

/// When a delayed event is due, by the database's clock.
fn due(backend: DbBackend, due: Due) -> Option<Expr> {
    Some(match due {
        Due::Now => return None,
        Due::At(time) if backend == DbBackend::MySql => Expr::val(time.naive_utc()),
        Due::At(time) => Expr::val(time),
        Due::After(delay) => clock::later(backend, delay),
    })
}

#[cfg(test)]
mod tests;
