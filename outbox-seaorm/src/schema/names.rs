use sea_orm::DbBackend;
use std::{error, fmt};

/// The names of the tables: the one place that builds a qualified, quoted name.
///
/// Statements are written with the default names in double quotes (`"outbox_event"`);
/// [`render`](Self::render) puts the prefix and the schema in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Names {
    prefix: String,
    schema: Option<String>,
}

/// A prefix or schema that cannot be part of a table's name on every database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidName(String);

impl Names {
    /// The longest prefix in bytes: with it every name stays within the 63 bytes of PostgreSQL.
    pub const PREFIX_BYTES: usize = 30;
    /// The longest schema name in bytes.
    pub const SCHEMA_BYTES: usize = 63;

    /// Names with this prefix in this schema.
    ///
    /// # Errors
    /// When a part is too long, or has a NUL or control character; or the schema is empty.
    pub fn new(prefix: String, schema: Option<String>) -> Result<Self, InvalidName> {
        check("prefix", &prefix, Self::PREFIX_BYTES)?;
        if let Some(schema) = &schema {
            check("schema", schema, Self::SCHEMA_BYTES)?;
            if schema.is_empty() {
                return Err(InvalidName("schema is empty".to_owned()));
            }
        }
        Ok(Self { prefix, schema })
    }

    /// The prefix.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The bare name of a table or index: `outbox_event` with the prefix before it.
    #[must_use]
    pub fn bare(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Puts the names into a statement: every `"outbox_…"` in double quotes gets the prefix and is
    /// quoted for the database; a table gets the schema before it. A name that ends in `_idx` is an
    /// index: on SQLite its schema stands before the index, elsewhere with the table alone.
    #[must_use]
    pub fn render(&self, backend: DbBackend, sql: &str) -> String {
        let mut rendered = String::with_capacity(sql.len() + 64);
        let mut rest = sql;
        while let Some(start) = rest.find("\"outbox_") {
            let name_start = start + 1;
            let Some(length) = rest[name_start..].find('"') else {
                break;
            };
            rendered.push_str(&rest[..start]);
            let name = &rest[name_start..name_start + length];
            if !name.ends_with("_idx") {
                self.push_schema(backend, &mut rendered);
            }
            push_quoted(backend, &mut rendered, &self.bare(name));
            rest = &rest[name_start + length + 1..];
        }
        rendered.push_str(rest);
        rendered
    }

    fn push_schema(&self, backend: DbBackend, sql: &mut String) {
        if let Some(schema) = &self.schema {
            push_quoted(backend, sql, schema);
            sql.push('.');
        }
    }
}

fn push_quoted(backend: DbBackend, sql: &mut String, name: &str) {
    let quote = if backend == DbBackend::MySql {
        '`'
    } else {
        '"'
    };
    sql.push(quote);
    for c in name.chars() {
        if c == quote {
            sql.push(quote);
        }
        sql.push(c);
    }
    sql.push(quote);
}

fn check(what: &str, name: &str, longest: usize) -> Result<(), InvalidName> {
    if name.len() > longest {
        let length = name.len();
        return Err(InvalidName(format!(
            "{what} has {length} bytes, the limit is {longest}"
        )));
    }
    if name.chars().any(char::is_control) {
        return Err(InvalidName(format!("{what} has a control character")));
    }
    Ok(())
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for InvalidName {}
