//! Reading what a MySQL or MariaDB database has.

use super::{
    Names, SchemaError,
    check::Found,
    ddl::{Kind, Object},
};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};

/// The collation of every text column.
const COLLATION: &str = "utf8mb4_bin";

/// The columns of a table, view or index; none where it does not exist.
pub(super) async fn columns<C: ConnectionTrait>(
    db: &C,
    names: &Names,
    object: &Object,
) -> Result<Vec<Found>, SchemaError> {
    let sql = match object.kind {
        Kind::Table | Kind::View => {
            "SELECT TABLE_NAME AS object, COLUMN_NAME AS name, COLUMN_TYPE AS type, \
             COLLATION_NAME AS collation FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ? \
             ORDER BY ORDINAL_POSITION"
        }
        // MySQL has none; its file names none.
        Kind::Sequence => return Ok(Vec::new()),
        Kind::Index => {
            "SELECT INDEX_NAME AS object, COLUMN_NAME AS name, '-' AS type, \
             NULL AS collation FROM information_schema.STATISTICS \
             WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND INDEX_NAME = ? \
             ORDER BY SEQ_IN_INDEX"
        }
    };
    let values = [names.schema().into(), names.bare(object.name).into()];
    let statement = Statement::from_sql_and_values(DbBackend::MySql, sql, values);
    let rows = db.query_all_raw(statement).await?;
    let found = rows.iter().map(found).collect::<Result<Vec<_>, DbErr>>()?;
    Ok(called(&names.bare(object.name), found))
}

/// The columns of the object that is called so: names are looked up in a collation to which case and
/// accents are nothing, so that another outbox's come along. Servers may keep tables in lower case.
fn called(name: &str, found: Vec<(String, Found)>) -> Vec<Found> {
    let exact = found.iter().any(|(object, _)| object == name);
    let lower = name.to_lowercase();
    let name = if exact { name } else { &lower };
    let of = found.into_iter().filter(|(object, _)| object == name);
    of.map(|(_, column)| column).collect()
}

fn found(row: &QueryResult) -> Result<(String, Found), DbErr> {
    let sql_type: String = row.try_get("", "type")?;
    let collation: Option<String> = row.try_get("", "collation")?;
    let column = Found {
        name: row.try_get("", "name")?,
        sql_type: written(&sql_type, collation.as_deref()),
    };
    Ok((row.try_get("", "object")?, column))
}

/// The type as the DDL states it. A text column with another collation than ours is said to have
/// another type: keys that differ in case would be one to it, and some texts could not be stored.
fn written(sql_type: &str, collation: Option<&str>) -> String {
    let sql_type = sql_type.to_ascii_uppercase();
    let plain = match sql_type.split_once('(') {
        _ if sql_type == "TINYINT(1)" => "BOOLEAN",
        // The width of an integer means nothing; MySQL does not report it any more.
        Some((integer @ ("SMALLINT" | "INT" | "BIGINT"), width)) if width.ends_with(')') => integer,
        _ => &sql_type,
    };
    match collation {
        Some(other) if other != COLLATION => format!("{plain} COLLATE {other}"),
        _ => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, called, written};

    #[test]
    fn what_is_called_almost_so_is_another() {
        let columns = |objects: &[&str], name: &str| {
            let found = objects.iter().map(|object| {
                let sql_type = String::new();
                let name = (*object).to_owned();
                (name.clone(), Found { name, sql_type })
            });
            let found = called(name, found.collect());
            let names = found.into_iter().map(|column| column.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(columns(&["ax", "Ax", "\u{e4}x"], "Ax"), ["Ax"]);
        // As it was stored by a server that makes all names lower case.
        assert_eq!(columns(&["ax", "\u{e4}x"], "Ax"), ["ax"]);
        assert_eq!(columns(&["\u{e4}x"], "Ax"), [""; 0]);
    }

    #[test]
    fn both_servers_report_the_same_type() {
        for (found, expected) in [
            ("bigint(20)", "BIGINT"),
            ("bigint", "BIGINT"),
            ("int(10) unsigned", "INT(10) UNSIGNED"),
            ("tinyint(1)", "BOOLEAN"),
            ("datetime(6)", "DATETIME(6)"),
            ("datetime", "DATETIME"),
            ("binary(16)", "BINARY(16)"),
        ] {
            assert_eq!(written(found, None), expected);
        }
    }

    #[test]
    fn another_collation_is_another_type() {
        assert_eq!(written("varchar(200)", Some("utf8mb4_bin")), "VARCHAR(200)");
        assert_eq!(
            written("text", Some("latin1_swedish_ci")),
            "TEXT COLLATE latin1_swedish_ci"
        );
    }
}
