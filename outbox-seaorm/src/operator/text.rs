use crate::schema::Names;
use sea_orm::{
    DatabaseBackend::{MySql, Postgres, Sqlite},
    DbBackend, Statement, Value,
};

/// A statement of an operator for one database.
///
/// The files say once what all databases do: parameters are `$1`, `$2`, …, and what each database
/// spells in its own way stands in braces.
pub(super) fn statement(
    backend: DbBackend,
    names: &Names,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Statement {
    let sql = spelled(backend, sql);
    let values: Vec<_> = values.into_iter().collect();
    // The names are put in last: there may be anything in them.
    if backend == DbBackend::MySql {
        let (sql, order) = positional(&sql);
        let values = order.iter().filter_map(|number| values.get(number - 1));
        let sql = names.render(backend, &sql);
        return Statement::from_sql_and_values(backend, sql, values.cloned());
    }
    Statement::from_sql_and_values(backend, names.render(backend, &sql), values)
}

/// On one line and without the comments, each fragment spelled for the database.
fn spelled(backend: DbBackend, sql: &str) -> String {
    let lines = sql.lines().map(str::trim);
    let lines: Vec<_> = lines.filter(|line| !line.starts_with("--")).collect();
    let sql = lines.join(" ");
    let mut spelled = String::with_capacity(sql.len());
    let mut rest = &*sql;
    while let Some((before, behind)) = rest.split_once('{') {
        let (fragment, behind) = behind.split_once('}').unwrap_or((behind, ""));
        spelled.push_str(before);
        let mut words = fragment.split(' ');
        let name = words.next().unwrap_or_default();
        spelled.push_str(&spell(backend, name, &words.collect::<Vec<_>>()));
        rest = behind;
    }
    spelled.push_str(rest);
    spelled
}

/// What the databases spell differently.
fn spell(backend: DbBackend, name: &str, arguments: &[&str]) -> String {
    let first = arguments.first().copied().unwrap_or_default();
    let second = arguments.get(1).copied().unwrap_or_default();
    match (name, backend) {
        // SQLite has one writer, which holds its lock from the start of the transaction.
        ("lock", Sqlite) => String::new(),
        ("lock", _) => "FOR UPDATE".to_owned(),
        // SQLite has one shard.
        ("shard", Sqlite) => "0".to_owned(),
        ("shard", _) => format!("{first}.shard"),
        // A list of one is no equality: the index on (shard, seq) has the order then, and the
        // primary key, which leads through all other shards, has not.
        ("in_shard", Postgres) => format!("{first}.shard = ANY (ARRAY[{second}::smallint])"),
        ("in_shard", MySql) => format!("{first}.shard = {second}"),
        ("in_shard", _) => format!("0 = {second}"),
        ("by_shard", Sqlite) => format!("{first}.seq"),
        ("by_shard", _) => format!("{first}.shard, {first}.seq"),
        // A limit that is computed is not known when planning: reading by key in order is then what
        // pays, whatever the statistics say, and not sorting a table.
        ("limit", Postgres) => format!("(SELECT {first}::bigint)"),
        ("limit", _) => first.to_owned(),
        ("force", MySql) => format!("FORCE INDEX (\"{first}\")"),
        ("force", _) => String::new(),
        // A parameter that may be NULL says what it is.
        ("text", Postgres) => format!("{first}::text"),
        ("number", Postgres) => format!("{first}::bigint"),
        ("instant", Postgres) => format!("{first}::timestamptz"),
        ("text" | "number" | "instant", _) => first.to_owned(),
        // To MySQL's collations a space at the end is none.
        ("is", MySql) => {
            format!("({first} = {second} AND OCTET_LENGTH({first}) = OCTET_LENGTH({second}))")
        }
        ("is", _) => format!("{first} = {second}"),
        // The row that is there is left as it is.
        ("or_leave", MySql) => format!("ON DUPLICATE KEY UPDATE {first} = {first}"),
        ("or_leave", _) => format!("ON CONFLICT ({first}) DO NOTHING"),
        ("contains", Postgres) => format!("strpos({first}, {second}::text) > 0"),
        ("contains", _) => format!("instr({first}, {second}) > 0"),
        ("json", Postgres) => format!("{first}::text"),
        ("json", _) => first.to_owned(),
        ("with_replay_id", Postgres) => {
            format!("{first} || jsonb_build_object('replay_id', {second}::text)")
        }
        ("with_replay_id", _) => format!("JSON_SET({first}, '$.replay_id', {second})"),
        // What lies outside of these bounds overflows, and a foreign writer may have stored it.
        ("time", Postgres) => format!(
            "CASE WHEN {first} >= '0001-01-01' AND {first} < '10000-01-01' THEN {first} END \
             AS {second}"
        ),
        ("time", _) => format!("{first} AS {second}"),
        // So many microseconds before now, or after.
        ("ago", Postgres) => {
            format!("clock_timestamp() - {first}::bigint * INTERVAL '1 microsecond'")
        }
        ("ago", MySql) => format!("UTC_TIMESTAMP(6) - INTERVAL {first} MICROSECOND"),
        ("ago", _) => format!(
            "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', (-{first} / 1000000.0) || ' seconds')"
        ),
        ("ahead", Postgres) => {
            format!("clock_timestamp() + {first}::bigint * INTERVAL '1 microsecond'")
        }
        ("ahead", MySql) => format!("UTC_TIMESTAMP(6) + INTERVAL {first} MICROSECOND"),
        ("ahead", _) => format!(
            "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', ({first} / 1000000.0) || ' seconds')"
        ),
        ("micros_since", Postgres) => format!(
            "CASE WHEN isfinite({first}) \
             THEN (EXTRACT(EPOCH FROM clock_timestamp() - {first}) * 1000000)::bigint END"
        ),
        ("micros_since", MySql) => {
            format!("TIMESTAMPDIFF(MICROSECOND, {first}, UTC_TIMESTAMP(6))")
        }
        ("micros_since", _) => {
            format!("CAST((julianday('now') - julianday({first})) * 86400000000 AS INTEGER)")
        }
        _ => format!("{{{name}}}"),
    }
}

/// MySQL's parameters have no numbers: the text with `?`, and which value each one is.
fn positional(sql: &str) -> (String, Vec<usize>) {
    let (mut text, mut order) = (String::with_capacity(sql.len()), Vec::new());
    let mut parts = sql.split('$');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        if let Ok(number) = part[..digits].parse() {
            order.push(number);
            text.push('?');
        } else {
            text.push('$');
        }
        text.push_str(&part[digits..]);
    }
    (text, order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fmt::Write, fs, path::Path};

    /// One snapshot a database.
    #[test]
    fn the_statements_as_they_are_sent() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/operator/sql");
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
        files.sort_by_key(|file| file.file_name());
        let databases = [(Postgres, "postgres"), (MySql, "mysql"), (Sqlite, "sqlite")];
        for (backend, own) in databases {
            let mut text = String::new();
            for file in &files {
                let name = file.file_name().into_string().unwrap();
                let name = name.trim_end_matches(".sql");
                let anothers = |(_, other): &(_, &str)| *other != own && name.ends_with(other);
                if databases.iter().any(anothers) {
                    continue;
                }
                let sql = fs::read_to_string(file.path()).unwrap();
                let built = statement(backend, &Names::default(), &sql, []);
                writeln!(text, "{name}: {}\n", built.sql).unwrap();
            }
            insta::assert_snapshot!(own, text);
        }
    }

    fn text(backend: DbBackend, sql: &str) -> String {
        let names = Names::new("a_".to_owned(), None).unwrap();
        statement(backend, &names, sql, ["x".into(), "y".into()]).sql
    }

    #[test]
    fn each_database_gets_its_own_words() {
        let sql = "-- What it does.\nSELECT {shard d} AS shard\nFROM \"outbox_dead\" AS d \
                   WHERE d.seq = $2 AND {contains d.topic $1} AND d.id = $2 {lock}";
        assert_eq!(
            text(DbBackend::Postgres, sql),
            "SELECT d.shard AS shard FROM \"a_outbox_dead\" AS d WHERE d.seq = $2 \
             AND strpos(d.topic, $1::text) > 0 AND d.id = $2 FOR UPDATE"
        );
        assert_eq!(
            text(DbBackend::Sqlite, sql),
            "SELECT 0 AS shard FROM \"a_outbox_dead\" AS d WHERE d.seq = $2 \
             AND instr(d.topic, $1) > 0 AND d.id = $2 "
        );
    }

    #[test]
    fn what_is_in_a_name_stays_as_it_is() {
        let names = Names::new("a$1{lock}?".to_owned(), None).unwrap();
        for backend in [DbBackend::MySql, DbBackend::Postgres, DbBackend::Sqlite] {
            let sql = "SELECT $1 FROM \"outbox_dead\"";
            let built = statement(backend, &names, sql, ["x".into()]);
            assert!(built.sql.contains("a$1{lock}?outbox_dead"), "{built}");
            assert_eq!(built.values.unwrap().0.len(), 1);
        }
    }

    #[test]
    fn parameters_without_numbers_come_in_their_order() {
        let names = Names::default();
        let sql = "SELECT $2, $1, $2, '$[0]'";
        let built = statement(DbBackend::MySql, &names, sql, ["x".into(), "y".into()]);
        assert_eq!(built.sql, "SELECT ?, ?, ?, '$[0]'");
        let values: Vec<Value> = vec!["y".into(), "x".into(), "y".into()];
        assert_eq!(built.values.unwrap().0, values);
    }
}
