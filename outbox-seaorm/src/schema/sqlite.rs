//! Reading what a SQLite database has.

use super::{
    Names, SchemaError,
    check::Found,
    ddl::{Kind, Object},
};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};

/// The columns of a table, view or index; none where it does not exist.
pub(super) async fn columns<C: ConnectionTrait>(
    db: &C,
    names: &Names,
    object: &Object,
) -> Result<Vec<Found>, SchemaError> {
    let (pragma, sql_type) = match object.kind {
        Kind::Table | Kind::View => ("pragma_table_info", "\"type\""),
        Kind::Index | Kind::Sequence => ("pragma_index_info", "''"),
    };
    let (arguments, mut values) = ("?1", vec![names.bare(object.name).into()]);
    let arguments = match names.schema() {
        Some(schema) => {
            values.push(schema.into());
            "?1, ?2"
        }
        None => arguments,
    };
    let sql = format!("SELECT \"name\", {sql_type} AS \"type\" FROM {pragma}({arguments})");
    let statement = Statement::from_sql_and_values(DbBackend::Sqlite, sql, values);
    let rows = db.query_all_raw(statement).await?;
    Ok(rows.iter().map(found).collect::<Result<_, _>>()?)
}

fn found(row: &QueryResult) -> Result<Found, DbErr> {
    Ok(Found {
        name: row.try_get("", "name")?,
        sql_type: row.try_get("", "type")?,
    })
}
