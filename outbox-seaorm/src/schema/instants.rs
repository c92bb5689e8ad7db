use super::ddl::{Kind, objects};
use sea_orm::DbBackend;

/// The columns by which the outbox measures time, by table: in the DDL of PostgreSQL they are those
/// with a time zone. The tables are the same in all databases.
pub(crate) fn instants() -> Vec<(&'static str, Vec<&'static str>)> {
    // An error would say that there is no such database.
    let objects = objects(DbBackend::Postgres).unwrap_or_default();
    let tables = objects
        .into_iter()
        .filter(|object| object.kind == Kind::Table);
    let timed = tables.map(|table| {
        let columns = table.columns.into_iter();
        let instants = columns
            .filter(|column| column.sql_type.as_deref() == Some("TIMESTAMP WITH TIME ZONE"))
            .map(|column| column.name);
        (table.name, instants.collect::<Vec<_>>())
    });
    timed.filter(|(_, columns)| !columns.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::instants;

    #[test]
    fn all_times_but_those_of_events_are_measured_by() {
        let instants: Vec<_> = instants()
            .into_iter()
            .map(|(table, columns)| format!("{table}: {}", columns.join(", ")))
            .collect();
        assert_eq!(
            instants,
            [
                "outbox_event: retry_at, created_at",
                "outbox_delayed: due_at, created_at",
                "outbox_dead: created_at, dead_at",
                "outbox_delivered: created_at, delivered_at",
                "outbox_dispatcher: lease_until, renewed_at, joined_at",
                "outbox_topic: paused_at",
                "outbox_operation: done_at",
                "outbox_dedupe: expires_at, created_at",
                "outbox_inbox: begun_at, lease_until, done_at",
            ]
        );
    }
}
