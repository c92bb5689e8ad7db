use super::ranges;
use crate::schema::Names;
use sea_orm::DbBackend;

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
    fetch_shards, fetch_again, fetch_places, fetch_events, read,
    lock_events, lock_free_events, claim, keep, delete, retry, bury, buried, mark_crashes,
    due, move_in, move_out,
}

impl Statements {
    /// The statement that reads this many shards, with bodies up to this many bytes.
    pub(super) fn fetch(&self, shards: usize, inline_bytes: usize) -> String {
        let again = &self.fetch_again;
        let again = again.replace("{ranges}", &ranges::condition(shards));
        let places = match shards {
            1 => self.fetch_places.clone(),
            _ => vec![format!("({})", self.fetch_places); shards].join(" UNION ALL "),
        };
        let events = self
            .fetch_events
            .replace("{places}", &places)
            .replace("{inline}", &inline_bytes.to_string());
        let seen = &self.fetch_shards;
        format!("({seen}) UNION ALL ({again}) UNION ALL ({events})")
    }
}

fn render(names: &Names, sql: &str) -> String {
    let lines = sql
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("--"));
    names.render(DbBackend::MySql, &lines.collect::<Vec<_>>().join(" "))
}
