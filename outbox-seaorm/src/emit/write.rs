use super::{
    EmitError,
    chunk::Limit,
    dedupe,
    statement::{Table, insert},
};
use crate::outbox::Outbox;
use outbox_core::{Draft, Emitted, NewEvent};
use sea_orm::ConnectionTrait;
use std::slice;
use tracing::debug;

/// The whole of an emit after encoding: check, write, wake.
pub(super) async fn one<C: ConnectionTrait + ?Sized>(
    conn: &C,
    outbox: &Outbox,
    draft: Draft,
) -> Result<Emitted, EmitError> {
    let event = draft
        .finish(outbox.limits(), outbox.headers())
        .map_err(|source| EmitError::invalid(None, source))?;
    let emitted = match &event.dedupe {
        None => Emitted::New(event.id),
        Some(_) => {
            let emitted = dedupe::claim(conn, outbox, slice::from_ref(&event)).await?;
            emitted.into_iter().next().unwrap_or(Emitted::New(event.id))
        }
    };
    tell(&event, emitted);
    if !emitted.is_duplicate() {
        write(conn, outbox, Table::of(&event), vec![event]).await?;
        outbox.wake().notify();
    }
    Ok(emitted)
}

pub(super) async fn many<C: ConnectionTrait + ?Sized>(
    conn: &C,
    outbox: &Outbox,
    drafts: Vec<Draft>,
) -> Result<Vec<Emitted>, EmitError> {
    // All checks of all events before any SQL: an invalid event leaves the transaction usable.
    let events = drafts
        .into_iter()
        .enumerate()
        .map(|(index, draft)| {
            draft
                .finish(outbox.limits(), outbox.headers())
                .map_err(|source| EmitError::invalid(Some(index), source))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let emitted = dedupe::claim(conn, outbox, &events).await?;
    let (mut now, mut later) = (Vec::new(), Vec::new());
    for (event, emitted) in events.into_iter().zip(&emitted) {
        tell(&event, *emitted);
        match Table::of(&event) {
            _ if emitted.is_duplicate() => {}
            Table::Event => now.push(event),
            Table::Delayed => later.push(event),
        }
    }
    if now.is_empty() && later.is_empty() {
        return Ok(emitted);
    }
    let limit = Limit::of(conn.get_database_backend());
    for (table, events) in [(Table::Event, now), (Table::Delayed, later)] {
        for chunk in limit.split(table, events) {
            write(conn, outbox, table, chunk).await?;
        }
    }
    outbox.wake().notify();
    Ok(emitted)
}

fn tell(event: &NewEvent, emitted: Emitted) {
    let topic = event.topic;
    match emitted {
        Emitted::New(id) => debug!(topic, %id, "emitting an event"),
        Emitted::Duplicate(id) => debug!(topic, %id, "the event was emitted before"),
    }
}

async fn write<C: ConnectionTrait + ?Sized>(
    conn: &C,
    outbox: &Outbox,
    table: Table,
    events: Vec<NewEvent>,
) -> Result<(), EmitError> {
    let backend = conn.get_database_backend();
    let statement = insert(backend, outbox.names(), table, events);
    // `execute`, not an entity's `insert`: no RETURNING, and restricted transactions take it.
    conn.execute(&statement)
        .await
        .map(|_| ())
        .map_err(|source| EmitError::database(backend, source))
}
