use crate::schema::Names;
use sea_orm::DbBackend;

/// An event's id in hex; what is no id is taken for the nil id, under which a fetch reports such a
/// row, so that it can still become a dead letter.
const ID: &str = "CASE WHEN typeof(e.id) = 'blob' AND length(e.id) = 16 THEN hex(e.id) \
    ELSE '00000000000000000000000000000000' END";

/// The rows `e` that a batch names: ?1 JSON `[seq, …]`, ?2 and ?3 the first and last seq. The bounds
/// are for statistics that were gathered while the outbox was small, as it mostly is: SQLite takes
/// such a table for cheaper to scan than to search 25 times (its guess of any list), and a join with
/// the list for a nested scan. So there is no join, and the range to scan is the batch's own.
const LISTED: &str = "e.seq IN (SELECT value FROM json_each(?1)) AND e.seq BETWEEN ?2 AND ?3";

/// The statements, with the names of the tables put in once.
macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: String,)*
        }

        impl Statements {
            pub(super) fn new(names: &Names) -> Self {
                Self {
                    $($name: render(names, include_str!(concat!("sql/", stringify!($name), ".sql"))),)*
                }
            }

            /// All of them, with the names of their fields.
            #[cfg(test)]
            fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), self.$name.as_str()),)*]
            }
        }
    };
}

statements! {
    join, renew, members, evict, remove_member,
    shards, take, release, release_all, blocked, paused,
    fence, there,
    fetch, read,
    claim, keep, delete, retry, bury, delete_buried, mark_crashes,
    last_due, move_in, move_out,
}

fn render(names: &Names, sql: &str) -> String {
    let lines = sql
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("--"));
    let sql = lines.collect::<Vec<_>>().join(" ");
    let sql = sql.replace("{listed}", LISTED).replace("{id}", ID);
    names.render(DbBackend::Sqlite, &sql)
}

#[cfg(test)]
mod tests {
    use super::Statements;
    use crate::schema::Names;
    use std::fmt::Write;

    #[test]
    fn the_statements_as_they_are_sent() {
        let names = Names::new("b_".to_owned(), Some("app".to_owned())).unwrap();
        let mut text = String::new();
        for (name, sql) in Statements::new(&names).all() {
            writeln!(text, "{name}: {sql}\n").unwrap();
            assert!(!sql.contains(['{', '}']), "{sql}");
        }
        insta::assert_snapshot!(text);
    }
}
