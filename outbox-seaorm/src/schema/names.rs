use sea_orm::{
    DbBackend,
    sea_query::{Alias, IntoTableRef, TableRef},
};
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
    /// When a part is too long, has a control character or one beyond U+FFFF (an emoji), which MySQL
    /// takes into no name; or the schema is empty.
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

    /// A table for a SeaQuery statement: `names.table("outbox_event")`.
    #[must_use]
    pub fn table(&self, name: &str) -> TableRef {
        let table = Alias::new(self.bare(name));
        match &self.schema {
            Some(schema) => (Alias::new(schema), table).into_table_ref(),
            None => table.into_table_ref(),
        }
    }

    /// Puts the names into a statement: every `"outbox_…"` in double quotes gets the prefix and is
    /// quoted for the database; a table gets the schema before it. A name that ends in `_idx` is an
    /// index, whose schema is that of its table. A name in a string (`E'"outbox_x"'`) is one that the
    /// database will look up: it is written as a string's content, which may stand in a string itself.
    /// They are `E` strings: what a backslash means in others is a setting of the session.
    #[must_use]
    pub fn render(&self, backend: DbBackend, sql: &str) -> String {
        self.rewrite(backend, sql, |name, _| !name.ends_with("_idx"))
    }

    /// Puts the names into a statement that makes or removes a table, view or index.
    ///
    /// SQLite wants the schema before what is made and nowhere else: an index names its table
    /// without it, and a view that did name it could not be read by a process that attaches the
    /// file under another name.
    #[must_use]
    pub fn render_ddl(&self, backend: DbBackend, sql: &str) -> String {
        match backend {
            DbBackend::Sqlite => self.rewrite(backend, sql, |_, first| first),
            _ => self.render(backend, sql),
        }
    }

    /// Rewrites each name; `qualify` is asked, with the name and whether it is the first one,
    /// whether the schema stands before it.
    fn rewrite(
        &self,
        backend: DbBackend,
        sql: &str,
        qualify: impl Fn(&str, bool) -> bool,
    ) -> String {
        let mut rendered = String::with_capacity(sql.len() + 64);
        let mut rest = sql;
        let mut first = true;
        while let Some(start) = rest.find("\"outbox_") {
            let name_start = start + 1;
            let Some(length) = rest[name_start..].find('"') else {
                break;
            };
            push_sql(backend, &mut rendered, &rest[..start]);
            let name = &rest[name_start..name_start + length];
            let mut full = String::new();
            if qualify(name, first) {
                self.push_schema(backend, &mut full);
            }
            first = false;
            push_quoted(backend, &mut full, &self.bare(name));
            // Two quotes: in a string within a string.
            let quotes = rest[..start].len() - rest[..start].trim_end_matches('\'').len();
            if quotes > 0 {
                for escaped in ["\\", "'"] {
                    full = full.replace(escaped, &escaped.repeat(2 * quotes));
                }
            }
            rendered.push_str(&full);
            rest = &rest[name_start + length + 1..];
        }
        push_sql(backend, &mut rendered, rest);
        rendered
    }

    fn push_schema(&self, backend: DbBackend, sql: &mut String) {
        if let Some(schema) = &self.schema {
            push_quoted(backend, sql, schema);
            sql.push('.');
        }
    }
}

/// What stands between the names. MySQL reads double quotes as a string, unless told otherwise.
fn push_sql(backend: DbBackend, rendered: &mut String, sql: &str) {
    if backend == DbBackend::MySql {
        rendered.push_str(&sql.replace('"', "`"));
    } else {
        rendered.push_str(sql);
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
    if let Some(c) = name.chars().find(|c| *c > '\u{ffff}') {
        return Err(InvalidName(format!(
            "{what} has the character {c:?}, which MySQL takes into no name"
        )));
    }
    Ok(())
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for InvalidName {}

#[cfg(test)]
mod tests {
    use super::Names;
    use sea_orm::DatabaseBackend::{MySql, Postgres, Sqlite};

    fn names(prefix: &str, schema: Option<&str>) -> Names {
        Names::new(prefix.to_owned(), schema.map(str::to_owned)).unwrap()
    }

    #[test]
    fn names_are_quoted_for_each_database() {
        let names = names("o\"ut`", Some("app-1"));
        let sql = "SELECT 1 FROM \"outbox_event\"";
        assert_eq!(
            names.render(Postgres, sql),
            "SELECT 1 FROM \"app-1\".\"o\"\"ut`outbox_event\""
        );
        assert_eq!(
            names.render(MySql, sql),
            "SELECT 1 FROM `app-1`.`o\"ut``outbox_event`"
        );
        assert_eq!(
            names.render(MySql, "SELECT \"seq\" FROM \"outbox_event\" AS \"e\""),
            "SELECT `seq` FROM `app-1`.`o\"ut``outbox_event` AS `e`"
        );
    }

    #[test]
    fn a_name_in_a_string_stays_a_string() {
        let names = names("it's\\", None);
        assert_eq!(
            names.render(
                Postgres,
                "SELECT nextval(E'\"outbox_x\"') FROM \"outbox_y\""
            ),
            "SELECT nextval(E'\"it''s\\\\outbox_x\"') FROM \"it's\\outbox_y\""
        );
        assert_eq!(
            names.render(Postgres, "DO E'SELECT nextval(E''\"outbox_x\"'')'"),
            "DO E'SELECT nextval(E''\"it''''s\\\\\\\\outbox_x\"'')'"
        );
    }

    #[test]
    fn an_index_gets_the_schema_where_the_database_wants_it() {
        let sql = "CREATE INDEX \"outbox_x_idx\" ON \"outbox_x\" (\"id\")";
        let names = names("", Some("app"));
        assert_eq!(
            names.render_ddl(Sqlite, sql),
            "CREATE INDEX \"app\".\"outbox_x_idx\" ON \"outbox_x\" (\"id\")"
        );
        assert_eq!(
            names.render_ddl(Postgres, sql),
            "CREATE INDEX \"outbox_x_idx\" ON \"app\".\"outbox_x\" (\"id\")"
        );
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        for (prefix, schema) in [
            ("x".repeat(31), None),
            ("a\0b".to_owned(), None),
            ("🦀".to_owned(), None),
            (String::new(), Some(String::new())),
            (String::new(), Some("a\u{10000}".to_owned())),
        ] {
            assert!(Names::new(prefix, schema).is_err());
        }
    }
}
