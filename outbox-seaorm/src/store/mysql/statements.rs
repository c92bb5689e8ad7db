use super::ranges;
use crate::schema::Names;
use sea_orm::DbBackend;

/// The statements, with the names of the tables put in once.
macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: String,)*
            names: Names,
        }

        impl Statements {
            pub(super) fn new(names: &Names) -> Self {
                Self {
                    $($name: render(names, include_str!(concat!("sql/", stringify!($name), ".sql"))),)*
                    names: names.clone(),
                }
            }

            #[cfg(test)]
            pub(super) fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), self.$name.as_str()),)*]
            }
        }
    };
}

statements! {
    join, renew, members, evict, remove_member,
    shards, lock_shards, living, last_position, take, release, release_all, blocked, paused,
    fence,
    read,
    lock_events, lock_free_events, claim, keep, delete, retry, bury, buried, mark_crashes,
    due, move_in, move_out,
}

impl Statements {
    /// The statement that reads this many shards, with bodies up to this many bytes. The names are put
    /// in last: there may be anything in them.
    pub(super) fn fetch(&self, shards: usize, inline_bytes: usize) -> String {
        let seen = one_line(include_str!("sql/fetch_shards.sql"));
        let again = one_line(include_str!("sql/fetch_again.sql"));
        let again = again.replace("{ranges}", &ranges::condition(shards));
        let places = one_line(include_str!("sql/fetch_places.sql"));
        let places = match shards {
            1 => places,
            _ => vec![format!("({places})"); shards].join(" UNION ALL "),
        };
        let events = one_line(include_str!("sql/fetch_events.sql"))
            .replace("{places}", &places)
            .replace("{inline}", &inline_bytes.to_string());
        let sql = format!("({seen}) UNION ALL ({again}) UNION ALL ({events})");
        self.names.render(DbBackend::MySql, &sql)
    }
}

fn render(names: &Names, sql: &str) -> String {
    names.render(DbBackend::MySql, &one_line(sql))
}

/// Without the comments.
fn one_line(sql: &str) -> String {
    let lines = sql
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("--"));
    lines.collect::<Vec<_>>().join(" ")
}
