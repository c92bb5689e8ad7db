use super::{
    EmitError,
    chunk::Limit,
    statement::{Table, insert},
};
use crate::outbox::Outbox;
use outbox_core::{Draft, NewEvent};
use sea_orm::ConnectionTrait;
use tracing::debug;
use uuid::Uuid;

/// The whole of an emit after encoding: check, write, wake.
pub(super) async fn one<C: ConnectionTrait + ?Sized>(
    conn: &C,
    outbox: &Outbox,
    draft: Draft,
) -> Result<Uuid, EmitError> {
    let event = draft
        .finish(outbox.limits(), outbox.headers())
        .map_err(|source| EmitError::invalid(None, source))?;
    let (id, topic) = (event.id, event.topic);
    write(conn, outbox, Table::of(&event), vec![event]).await?;
    outbox.wake().notify();
    debug!(topic, %id, "event emitted");
    Ok(id)
}

pub(super) async fn many<C: ConnectionTrait + ?Sized>(
    conn: &C,
    outbox: &Outbox,
    drafts: Vec<Draft>,
) -> Result<Vec<Uuid>, EmitError> {
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
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let emitted: Vec<_> = events.iter().map(|event| (event.id, event.topic)).collect();
    let (now, later): (Vec<_>, Vec<_>) = events
        .into_iter()
        .partition(|event| Table::of(event) == Table::Event);
    let limit = Limit::of(conn.get_database_backend());
    for (table, events) in [(Table::Event, now), (Table::Delayed, later)] {
        for chunk in limit.split(table, events) {
            write(conn, outbox, table, chunk).await?;
        }
    }
    outbox.wake().notify();
    for (id, topic) in &emitted {
        debug!(topic, %id, "event emitted");
    }
    Ok(emitted.into_iter().map(|(id, _)| id).collect())
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
