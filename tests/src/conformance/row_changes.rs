use super::Tables;
use sea_orm::DbBackend;

/// Row changes, written down by the database itself in the order in which it makes them.
#[derive(Debug, Clone)]
pub struct RowChanges(Tables);

const TABLES: [&str; 6] = [
    "outbox_event",
    "outbox_delayed",
    "outbox_dead",
    "outbox_delivered",
    "outbox_shard",
    "outbox_dispatcher",
];

/// The tables that say who delivers: no events are in them.
const FLEET: [&str; 2] = ["outbox_shard", "outbox_dispatcher"];

impl RowChanges {
    /// From now on.
    pub async fn of(tables: &Tables) -> Self {
        let backend = tables.backend();
        tables.run(&table(backend)).await;
        if backend == DbBackend::Postgres {
            tables.run(FUNCTION).await;
        }
        for name in TABLES {
            for verb in ["INSERT", "UPDATE", "DELETE"] {
                tables.run(&trigger(backend, name, verb)).await;
            }
        }
        Self(tables.clone())
    }

    /// Those of events since the last call, as `INSERT outbox_event`.
    pub async fn take(&self) -> Vec<String> {
        let sql = "SELECT what AS v FROM row_change ORDER BY n";
        let mut changes = self.0.texts(sql).await;
        self.0.run("DELETE FROM row_change").await;
        changes.retain(|change| FLEET.iter().all(|table| !change.ends_with(table)));
        changes
    }
}

fn table(backend: DbBackend) -> String {
    let number = match backend {
        DbBackend::Postgres => "BIGSERIAL PRIMARY KEY",
        DbBackend::MySql => "BIGINT AUTO_INCREMENT PRIMARY KEY",
        _ => "INTEGER PRIMARY KEY AUTOINCREMENT",
    };
    format!("CREATE TABLE row_change (n {number}, what VARCHAR(60) NOT NULL)")
}

const FUNCTION: &str = "CREATE FUNCTION row_changed() RETURNS trigger LANGUAGE plpgsql AS \
    $$ BEGIN INSERT INTO row_change (what) VALUES (TG_OP || ' ' || TG_ARGV[0]); RETURN NULL; END $$";

fn trigger(backend: DbBackend, table: &str, verb: &str) -> String {
    let insert = format!("INSERT INTO row_change (what) VALUES ('{verb} {table}')");
    let action = match backend {
        DbBackend::Postgres => format!("EXECUTE FUNCTION row_changed('{table}')"),
        DbBackend::MySql => insert,
        _ => format!("BEGIN {insert}; END"),
    };
    format!(
        "CREATE TRIGGER row_change_{table}_{verb} AFTER {verb} ON \"{table}\" FOR EACH ROW {action}"
    )
}
