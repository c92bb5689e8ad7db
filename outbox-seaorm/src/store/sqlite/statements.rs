use crate::schema::Names;
use sea_orm::DbBackend;

/// An event's id in hex, to be compared with a parameter; what is no id compares as the nil id,
/// under which a fetch reports such a row, so that it can still become a dead letter.
const ID: &str = "CASE WHEN typeof(e.id) = 'blob' AND length(e.id) = 16 THEN hex(e.id) \
    ELSE '00000000000000000000000000000000' END";

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
        }
    };
}

statements! {
    check,
    join, renew, members, evict, remove_member,
    shards, take, release, release_all, blocked,
    fence,
    fetch, read,
    keep, delete, retry, bury, delete_buried, raise_crashes,
    move_in, move_out,
}

fn render(names: &Names, sql: &str) -> String {
    let lines = sql
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("--"));
    let sql = lines.collect::<Vec<_>>().join(" ").replace("{id}", ID);
    names.render(DbBackend::Sqlite, &sql)
}
