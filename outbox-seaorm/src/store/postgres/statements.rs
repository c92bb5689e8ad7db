use crate::schema::Names;
use sea_orm::DbBackend;

/// A time that a row cannot be read with is no time: what lies outside of these bounds overflows,
/// and a foreign writer may have stored an infinity.
const OCCURRED_AT: &str = "CASE WHEN e.occurred_at BETWEEN '0001-01-01' \
    AND '9999-12-31 23:59:59.999999' THEN e.occurred_at END";

/// Where delivered events go.
#[derive(Clone, Copy)]
enum History {
    None,
    /// It has none of them: an error otherwise.
    Lacks,
    /// It may have some already, which stay as they are.
    MayHave,
}

impl History {
    /// Adds what a statement that removes events does with them.
    fn put_into(self, sql: &str) -> String {
        const KEPT: &str = include_str!("sql/kept.sql");
        let kept = |unless| KEPT.replace("{unless}", unless);
        let (row, kept) = match self {
            Self::None => ("e.seq, e.id", String::new()),
            Self::Lacks => ("e.*", kept("")),
            Self::MayHave => ("e.*", kept(" ON CONFLICT (seq) DO NOTHING")),
        };
        sql.replace("{row}", row).replace("{kept}", &kept)
    }
}

/// The statements, with the names of the tables put in once.
macro_rules! statements {
    ($($name:ident = $file:literal $(to $history:expr)?),* $(,)?) => {
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: String,)*
        }

        impl Statements {
            pub(super) fn new(names: &Names) -> Self {
                Self {
                    $($name: {
                        let sql = include_str!(concat!("sql/", $file, ".sql"));
                        $(let sql = $history.put_into(sql);)?
                        render(names, &sql)
                    },)*
                }
            }

            /// All of them, with the names of their fields.
            #[cfg(test)]
            pub(super) fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), self.$name.as_str()),)*]
            }
        }
    };
}

statements! {
    join = "join",
    renew = "renew",
    set_sleeping = "set_sleeping",
    channel = "channel",
    members = "members",
    evict = "evict",
    leave = "leave",
    shards = "shards",
    take = "take",
    release = "release",
    blocked = "blocked",
    paused = "paused",
    fetch = "fetch",
    read = "read",
    settle_done = "settle_done" to History::None,
    settle_done_kept = "settle_done" to History::Lacks,
    settle = "settle" to History::None,
    settle_kept = "settle" to History::MayHave,
    claim = "claim",
    complete = "complete" to History::None,
    complete_kept = "complete" to History::MayHave,
    mark_crashes = "mark_crashes",
    move_due = "move_due",
}

/// On one line and without the comments, as it goes over the wire.
fn render(names: &Names, sql: &str) -> String {
    let lines = sql
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("--") && !line.is_empty());
    let sql = lines.collect::<Vec<_>>().join(" ");
    names.render(
        DbBackend::Postgres,
        &sql.replace("{occurred_at}", OCCURRED_AT),
    )
}

#[cfg(test)]
mod tests {
    use super::Statements;
    use crate::schema::Names;
    use std::fmt::Write;

    #[test]
    fn the_statements_as_they_are_sent() {
        let mut text = String::new();
        for (name, sql) in Statements::new(&Names::default()).all() {
            writeln!(text, "{name}: {sql}\n").unwrap();
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn odd_names_are_quoted_everywhere() {
        let names = Names::new("out\"box".to_owned(), Some("app-1".to_owned())).unwrap();
        for (_, sql) in Statements::new(&names).all() {
            let tables = sql.matches("\"app-1\".\"out\"\"boxoutbox_").count();
            assert_eq!(tables, sql.matches("outbox_").count(), "{sql}");
            assert!(tables > 0 && !sql.contains(['{', '}']), "{sql}");
        }
    }
}
