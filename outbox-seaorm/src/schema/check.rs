use super::{
    Problem, SchemaError,
    ddl::{Kind, Object, objects},
    mysql, postgres, sqlite, version,
};
use crate::outbox::Outbox;
use sea_orm::{
    ConnectionTrait, DbBackend,
    sea_query::{Asterisk, Expr, ExprTrait, Query},
};

/// Checks that the server is new enough, that its sessions are such that a dispatcher works in them,
/// and that the database has everything the default [`Outbox`] needs, and names all that is missing or
/// differs. It only reads. What is there beyond that is left alone.
///
/// Call it when the application starts: an outdated schema is then one clear error.
///
/// # Errors
/// [`Incomplete`](super::SchemaErrorKind::Incomplete) with every problem; or the database is not
/// supported yet, is [too old](super::SchemaErrorKind::ServerTooOld), has
/// [sessions](super::SchemaErrorKind::SessionSettings) in which no dispatcher works, or fails.
pub async fn check<C: ConnectionTrait>(db: &C) -> Result<(), SchemaError> {
    check_with(&Outbox::default(), db).await
}

/// Checks the tables of an [`Outbox`] with settings of its own; see [`check`].
///
/// # Errors
/// As [`check`].
pub async fn check_with<C: ConnectionTrait>(outbox: &Outbox, db: &C) -> Result<(), SchemaError> {
    version::check(db).await?;
    let backend = db.get_database_backend();
    let mut problems = Vec::new();
    for object in objects(backend)? {
        let found = match backend {
            DbBackend::Sqlite => sqlite::columns(db, outbox.names(), &object).await?,
            DbBackend::Postgres => postgres::columns(db, outbox.names(), &object).await?,
            DbBackend::MySql => mysql::columns(db, outbox.names(), &object).await?,
            _ => return Err(SchemaError::unsupported(backend)),
        };
        compare(
            &outbox.names().bare(object.name),
            &object,
            &found,
            &mut problems,
        );
    }
    if problems.is_empty() {
        problems.extend(missing_shards(outbox, db).await?);
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(SchemaError::incomplete(problems))
    }
}

/// A test that empties all tables empties this one too, and then nothing is ever delivered.
async fn missing_shards<C: ConnectionTrait>(
    outbox: &Outbox,
    db: &C,
) -> Result<Option<Problem>, SchemaError> {
    let expected = match db.get_database_backend() {
        DbBackend::Sqlite => 1,
        _ => 64,
    };
    let count = Query::select()
        .expr_as(Expr::col(Asterisk).count(), "n")
        .from(outbox.names().table("outbox_shard"))
        .to_owned();
    let row = db.query_one(&count).await?;
    let found: i64 = row.map_or(Ok(0), |row| row.try_get("", "n"))?;
    Ok((found < expected).then(|| Problem::MissingShards {
        table: outbox.names().bare("outbox_shard"),
        expected,
        found,
    }))
}

/// A column as the database has it, its type written as in the DDL.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) sql_type: String,
}

/// What is wrong with one object. One that is missing has no columns.
fn compare(name: &str, object: &Object, found: &[Found], problems: &mut Vec<Problem>) {
    if found.is_empty() {
        let missing = match object.kind {
            Kind::Table => Problem::MissingTable,
            Kind::View => Problem::MissingView,
            Kind::Index => Problem::MissingIndex,
            // A table takes its numbers from it, and there would be no such table without.
            Kind::Sequence => return,
        };
        problems.push(missing(name.to_owned()));
        return;
    }
    if object.kind == Kind::Index {
        let expected: Vec<_> = object.columns.iter().map(|column| column.name).collect();
        let found: Vec<_> = found.iter().map(|column| column.name.clone()).collect();
        if expected != found {
            problems.push(Problem::IndexColumns {
                index: name.to_owned(),
                expected: expected.into_iter().map(str::to_owned).collect(),
                found,
            });
        }
        return;
    }
    for column in &object.columns {
        let Some(there) = found.iter().find(|there| there.name == column.name) else {
            problems.push(Problem::MissingColumn {
                table: name.to_owned(),
                column: column.name.to_owned(),
            });
            continue;
        };
        if let Some(expected) = &column.sql_type
            && !expected.eq_ignore_ascii_case(&there.sql_type)
        {
            problems.push(Problem::ColumnType {
                table: name.to_owned(),
                column: column.name.to_owned(),
                expected: expected.clone(),
                found: there.sql_type.clone(),
            });
        }
    }
}
