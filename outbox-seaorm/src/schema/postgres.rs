//! Making the tables of PostgreSQL, and reading what a database has.

use super::{
    Names, SchemaError,
    check::Found,
    ddl::{Kind, Object},
};
use crate::{
    db_error::{Meaning, meaning, state},
    outbox::Outbox,
};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};

/// Several may create at once, and `IF NOT EXISTS` looks before it waits: one after the other then.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('outbox-seaorm schema', 0))";

/// A statement failed before in the same transaction.
const ABORTED: &str = "25P02";

/// All statements as one text: one transaction, also on a pool, so that the lock is held to its end.
pub(super) async fn create<C: ConnectionTrait>(
    db: &C,
    statements: &[String],
) -> Result<(), SchemaError> {
    let text = format!("{LOCK};\n{}", statements.join(";\n"));
    let mut in_the_way = None;
    for _ in 0..4 {
        match db.execute_unprepared(&text).await {
            // Where sessions are SERIALIZABLE, the snapshot is older than the lock.
            Err(error) if meaning(DbBackend::Postgres, &error) == Meaning::Contention => {
                in_the_way = Some(error);
            }
            // In a transaction of somebody else nothing can be tried again: he has to.
            Err(error) if state(&error).as_deref() == Some(ABORTED) => {
                return Err(in_the_way.unwrap_or(error).into());
            }
            done => return Ok(done.map(drop)?),
        }
    }
    in_the_way.map_or(Ok(()), |error| Err(error.into()))
}

/// Whether sleeping dispatchers are woken, where that is wanted.
pub(super) async fn wakes<C: ConnectionTrait>(
    db: &C,
    outbox: &Outbox,
) -> Result<bool, SchemaError> {
    if outbox.is_polled_only() {
        return Ok(true);
    }
    let sql = "SELECT count(*) = 2 AS both FROM pg_catalog.pg_trigger WHERE tgname = 'wake_dispatchers' \
        AND tgrelid IN (E'\"outbox_event\"'::regclass, E'\"outbox_delayed\"'::regclass)";
    let sql = outbox.names().render(DbBackend::Postgres, sql);
    let statement = Statement::from_string(DbBackend::Postgres, sql);
    let row = db.query_one_raw(statement).await?;
    Ok(row.map_or(Ok(false), |row| row.try_get("", "both"))?)
}

/// The columns of a table, view or index, in their order; none where it does not exist, or exists
/// in another schema than the statements would find it in, which is looked for once: there may be
/// thousands of that name, a schema for each tenant. Types are quoted where a session quotes all names.
pub(crate) const COLUMNS: &str = "SELECT a.attname AS name, \
    replace(format_type(a.atttypid, a.atttypmod), '\"', '') AS type \
    FROM pg_catalog.pg_class AS c \
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid \
    WHERE c.relname = $1 AND c.relkind::text = ANY (string_to_array($2, ',')) \
    AND n.nspname = coalesce($3, (SELECT v.nspname FROM pg_catalog.pg_class AS t \
        JOIN pg_catalog.pg_namespace AS v ON v.oid = t.relnamespace \
        JOIN unnest(current_schemas(true)) WITH ORDINALITY AS p (name, place) ON p.name = v.nspname \
        WHERE t.relname = $1 ORDER BY p.place LIMIT 1)) \
    AND a.attnum > 0 AND NOT a.attisdropped \
    ORDER BY a.attnum";

pub(super) async fn columns<C: ConnectionTrait>(
    db: &C,
    names: &Names,
    object: &Object,
) -> Result<Vec<Found>, SchemaError> {
    let kinds = match object.kind {
        // A table may be partitioned by an application's own decision.
        Kind::Table => "r,p",
        Kind::View => "v",
        Kind::Index => "i,I",
        Kind::Sequence => "S",
    };
    let values = [
        names.bare(object.name).into(),
        kinds.into(),
        names.schema().into(),
    ];
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, COLUMNS, values);
    let rows = db.query_all_raw(statement).await?;
    Ok(rows.iter().map(found).collect::<Result<_, _>>()?)
}

fn found(row: &QueryResult) -> Result<Found, DbErr> {
    Ok(Found {
        name: row.try_get("", "name")?,
        sql_type: row.try_get("", "type")?,
    })
}
