//! The DDL, which stands once a database in a file beside this one, and what it says.

use super::SchemaError;
use crate::outbox::Outbox;
use sea_orm::DbBackend;

/// The statements that make the tables of an outbox, for a migration tool of your own. They are
/// idempotent.
///
/// # Errors
/// [`UnsupportedDatabase`](super::SchemaErrorKind::UnsupportedDatabase).
pub fn sql(backend: DbBackend, outbox: &Outbox) -> Result<Vec<String>, SchemaError> {
    let mut statements = statements(backend)?;
    if backend == DbBackend::Postgres && !outbox.is_polled_only() {
        statements.extend(split(include_str!("wake.sql")));
    }
    let render = |sql| outbox.names().render_ddl(backend, sql);
    Ok(statements.into_iter().map(render).collect())
}

/// The statements that remove the tables of an outbox, with all events. They are idempotent.
///
/// # Errors
/// [`UnsupportedDatabase`](super::SchemaErrorKind::UnsupportedDatabase).
pub fn drop_sql(backend: DbBackend, outbox: &Outbox) -> Result<Vec<String>, SchemaError> {
    let mut dropped: Vec<_> = objects(backend)?
        .into_iter()
        .filter_map(|object| match object.kind {
            Kind::Table => Some(format!("DROP TABLE IF EXISTS \"{}\"", object.name)),
            Kind::View => Some(format!("DROP VIEW IF EXISTS \"{}\"", object.name)),
            // It goes with its table.
            Kind::Index => None,
            Kind::Sequence => Some(format!("DROP SEQUENCE IF EXISTS \"{}\"", object.name)),
        })
        .collect();
    dropped.reverse();
    if backend == DbBackend::Postgres {
        // Its triggers have gone with their tables.
        dropped.push("DROP FUNCTION IF EXISTS \"outbox_wake\"()".to_owned());
    }
    let render = |sql: String| outbox.names().render_ddl(backend, &sql);
    Ok(dropped.into_iter().map(render).collect())
}

/// What a statement of the DDL makes, with its default name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    pub(super) columns: Vec<Column>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Table,
    View,
    Index,
    Sequence,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: &'static str,
    /// Only a table states its columns' types.
    pub(super) sql_type: Option<String>,
}

pub(super) fn objects(backend: DbBackend) -> Result<Vec<Object>, SchemaError> {
    Ok(statements(backend)?.into_iter().flat_map(made).collect())
}

fn statements(backend: DbBackend) -> Result<Vec<&'static str>, SchemaError> {
    let file = match backend {
        DbBackend::Sqlite => include_str!("sqlite.sql"),
        DbBackend::Postgres => include_str!("postgres.sql"),
        DbBackend::MySql => include_str!("mysql.sql"),
        _ => return Err(SchemaError::unsupported(backend)),
    };
    Ok(split(file).collect())
}

/// A statement ends with `;` before a blank line or the end of the file, so that the body of a
/// function or trigger stays whole.
fn split(file: &str) -> impl Iterator<Item = &str> {
    file.split(";\n\n")
        .map(|statement| statement.trim().trim_end_matches(';'))
        .filter(|statement| !statement.is_empty())
}

/// Everything that a statement makes: MySQL has no idempotent CREATE INDEX, and lists the indexes
/// in their table.
fn made(statement: &'static str) -> impl Iterator<Item = Object> {
    object(statement)
        .into_iter()
        .chain(statement.lines().filter_map(table_index))
}

/// Reads what a statement makes. The files are ours: this knows how they are written and no more.
fn object(statement: &'static str) -> Option<Object> {
    for (start, kind) in [
        ("CREATE TABLE IF NOT EXISTS \"", Kind::Table),
        ("CREATE VIEW IF NOT EXISTS \"", Kind::View),
        ("CREATE OR REPLACE VIEW \"", Kind::View),
        ("CREATE OR REPLACE SQL SECURITY INVOKER VIEW \"", Kind::View),
        ("CREATE INDEX IF NOT EXISTS \"", Kind::Index),
        ("CREATE SEQUENCE IF NOT EXISTS \"", Kind::Sequence),
    ] {
        let Some((_, rest)) = statement.split_once(start) else {
            continue;
        };
        let (name, body) = rest.split_once('"')?;
        let columns = match kind {
            Kind::Table => body.lines().filter_map(table_column).collect(),
            Kind::View => view_columns(body),
            Kind::Index => index_columns(body),
            Kind::Sequence => Vec::new(),
        };
        return Some(Object {
            kind,
            name,
            columns,
        });
    }
    None
}

/// `"name" TYPE NOT NULL …`, a column a line.
fn table_column(line: &'static str) -> Option<Column> {
    let (name, rest) = line.trim_start().strip_prefix('"')?.split_once('"')?;
    const AFTER_TYPE: [&str; 10] = [
        "AUTO_INCREMENT",
        "PRIMARY",
        "NOT",
        "NULL",
        "CHECK",
        "DEFAULT",
        "GENERATED",
        "UNIQUE",
        "CHARACTER",
        "COLLATE",
    ];
    let sql_type: Vec<_> = rest
        .trim_end_matches(',')
        .split_whitespace()
        .take_while(|word| !AFTER_TYPE.contains(word))
        .collect();
    Some(Column {
        name,
        sql_type: Some(sql_type.join(" ")),
    })
}

/// `INDEX "name" ("name", …)`, an index a line.
fn table_index(line: &'static str) -> Option<Object> {
    let (name, rest) = line
        .trim_start()
        .strip_prefix("INDEX \"")?
        .split_once('"')?;
    Some(Object {
        kind: Kind::Index,
        name,
        columns: index_columns(rest),
    })
}

/// What the first SELECT lists: `"name"`, or an expression `AS "name"`. Its FROM starts a line, as
/// those in an expression do not.
fn view_columns(body: &'static str) -> Vec<Column> {
    let list = body
        .split_once("SELECT")
        .and_then(|(_, rest)| rest.split_once("\nFROM"))
        .map_or("", |(list, _)| list);
    list.split(',').filter_map(last_name).collect()
}

/// `ON "table" ("name", …)`.
fn index_columns(body: &'static str) -> Vec<Column> {
    let list = body
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(list, _)| list);
    list.split(',').filter_map(last_name).collect()
}

fn last_name(item: &'static str) -> Option<Column> {
    let name = item.trim().strip_suffix('"')?.rsplit_once('"')?.1;
    Some(Column {
        name,
        sql_type: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, Object, objects, sql};
    use crate::outbox::Outbox;
    use sea_orm::DbBackend;
    use std::fmt::Write;

    fn described(backend: DbBackend) -> String {
        let mut text = String::new();
        for object in objects(backend).unwrap() {
            describe(&mut text, &object);
        }
        text
    }

    #[test]
    fn the_file_is_read_as_it_is_written() {
        insta::assert_snapshot!(described(DbBackend::Sqlite));
    }

    #[test]
    fn the_file_of_mysql_is_read_as_it_is_written() {
        insta::assert_snapshot!(described(DbBackend::MySql));
    }

    #[test]
    fn the_file_of_postgresql_is_read_as_it_is_written() {
        insta::assert_snapshot!(described(DbBackend::Postgres));
    }

    fn describe(text: &mut String, object: &Object) {
        write!(text, "{:?} {}:", object.kind, object.name).unwrap();
        for column in &object.columns {
            let sql_type = column.sql_type.as_deref().unwrap_or("-");
            write!(text, " {} {sql_type},", column.name).unwrap();
        }
        text.push('\n');
        assert!(object.kind == Kind::Sequence || !object.columns.is_empty());
        assert!(object.kind != Kind::Table || object.columns.len() > 3);
    }

    #[test]
    fn every_statement_is_whole_and_comments_stay() {
        for (backend, start) in [
            (DbBackend::Sqlite, "-- The outbox on SQLite"),
            (DbBackend::MySql, "-- The outbox on MySQL"),
        ] {
            let statements = sql(backend, &Outbox::default()).unwrap();
            assert!(statements[0].starts_with(start));
            for statement in &statements {
                assert_eq!(
                    statement.matches('(').count(),
                    statement.matches(')').count(),
                    "{statement}"
                );
                assert!(statement.contains("CREATE ") || statement.contains("INSERT "));
            }
        }
    }
}
